package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A Failure is what went wrong: Class is told to the suite, Text is what had come of an answer.
type Failure struct {
	Class, Message, Text string
	Status               int
}

func (f *Failure) Error() string { return f.Message }

// An Answer is one answer of the model.
type Answer struct {
	Text   string
	Calls  []*Call
	Stop   string
	Usage  *Usage
	Pieces []string
}

type Call struct {
	Index    int    `json:"-"`
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type Usage struct {
	Prompt     *int `json:"prompt_tokens"`
	Completion *int `json:"completion_tokens"`
	In         struct {
		Cached *int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	Out struct {
		Reasoning *int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

type said struct {
	Content *string `json:"content"`
	Refusal *string `json:"refusal"`
	Calls   []struct {
		Index    int     `json:"index"`
		ID       *string `json:"id"`
		Function struct {
			Name      *string `json:"name"`
			Arguments *string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

type event struct {
	Error   *struct{ Message, Code any } `json:"error"`
	Usage   *Usage                       `json:"usage"`
	Choices []struct {
		Message said    `json:"message"`
		Delta   said    `json:"delta"`
		Stop    *string `json:"finish_reason"`
	} `json:"choices"`
}

var client = &http.Client{
	Timeout:       20 * time.Second,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the key is for one host
}

func written(value any) string {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(text.String(), "\n")
}

func ask(messages, tools []any) (*Answer, error) {
	body := map[string]any{"model": env("MODEL"), "messages": messages}
	if len(tools) > 0 {
		body["tools"] = tools
	}
	if stream {
		body["stream"], body["stream_options"] = true, map[string]bool{"include_usage": true}
	}
	response, err := sent(written(body))
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if stream && strings.HasPrefix(response.Header.Get("content-type"), "text/event-stream") {
		return folded(response.Body)
	}
	return whole(response.Body)
}

func sent(body string) (*http.Response, error) {
	retries, _ := strconv.Atoi(env("MAX_RETRIES"))
	for left := retries; ; left-- {
		request, err := http.NewRequest("POST", env("BASE_URL")+"/chat/completions", strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		request.Header = http.Header{
			"Authorization": {"Bearer " + env("API_KEY")}, "Content-Type": {"application/json"}, "User-Agent": {"driver-go/1.0"},
			"Accept": {map[bool]string{true: "text/event-stream", false: "application/json"}[stream]},
		}
		response, err := client.Do(request)
		if err != nil {
			return nil, &Failure{Class: "NoAnswer", Message: "no answer came: " + err.Error()}
		}
		if response.StatusCode == 200 {
			return response, nil
		}
		refusal := refused(response)
		if left == 0 || !strings.Contains("429 500 502 503 529", strconv.Itoa(response.StatusCode)) {
			return nil, refusal
		}
		time.Sleep(pause(response.Header))
	}
}

func pause(header http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(header.Get("retry-after-ms"), 64); err == nil {
		return time.Duration(ms * float64(time.Millisecond))
	}
	if seconds, err := strconv.ParseFloat(header.Get("retry-after"), 64); err == nil {
		return time.Duration(seconds * float64(time.Second))
	}
	return 100 * time.Millisecond
}

func refused(response *http.Response) *Failure {
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	var found event
	message, class := string(text), "APIError"
	if json.Unmarshal(text, &found) == nil && found.Error != nil {
		message = fmt.Sprint(found.Error.Message)
		if found.Error.Code == "context_length_exceeded" {
			class = "TooLong"
		}
	}
	if response.StatusCode == 429 {
		class = "RateLimited"
	}
	return &Failure{Class: class, Message: fmt.Sprintf("%d: %s", response.StatusCode, message), Status: response.StatusCode}
}

func whole(body io.Reader) (*Answer, error) {
	var found event
	if err := json.NewDecoder(body).Decode(&found); err != nil {
		return nil, &Failure{Class: "Incomplete", Message: "the answer is no answer: " + err.Error()}
	}
	if found.Error != nil {
		return nil, &Failure{Class: "APIError", Message: fmt.Sprint(found.Error.Message)}
	}
	if len(found.Choices) == 0 {
		return nil, &Failure{Class: "Incomplete", Message: "the answer has no choices"}
	}
	answer := &Answer{Usage: found.Usage, Pieces: []string{}}
	answer.add(found.Choices[0].Message, true)
	if stop := found.Choices[0].Stop; stop != nil {
		answer.Stop = *stop
	}
	answer.Pieces = []string{}
	return answer, nil
}

// folded puts a stream together. It ends with a finish_reason, or is an error.
func folded(body io.Reader) (*Answer, error) {
	answer := &Answer{Pieces: []string{}}
	broken := func(message string) (*Answer, error) {
		return nil, &Failure{Class: "Incomplete", Message: message, Text: answer.Text}
	}
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 64<<20)
	lines.Split(anyLine)
	data, first := []string{}, true
	for lines.Scan() {
		line := lines.Text()
		if first {
			line, first = strings.TrimPrefix(line, "\ufeff"), false
		}
		if strings.HasPrefix(line, "data:") {
			data = append(data, strings.TrimPrefix(line[5:], " "))
			continue
		}
		if line != "" || len(data) == 0 {
			continue
		}
		text := strings.Join(data, "\n")
		data = data[:0]
		if text == "[DONE]" {
			break
		}
		var found event
		if err := json.Unmarshal([]byte(text), &found); err != nil {
			return broken("an event is no JSON: " + err.Error())
		}
		if found.Error != nil {
			return broken(fmt.Sprint(found.Error.Message))
		}
		answer.take(found)
	}
	if err := lines.Err(); err != nil {
		return broken("the connection broke: " + err.Error())
	}
	if answer.Stop == "" {
		return broken("the stream ended without a finish_reason")
	}
	return answer, nil
}

func (a *Answer) take(found event) {
	if found.Usage != nil {
		a.Usage = found.Usage
	}
	for _, choice := range found.Choices {
		a.add(choice.Delta, false)
		if choice.Stop != nil {
			a.Stop = *choice.Stop
		}
	}
}

// add takes a message or a part of one. A call is new where its id is, else the last one at its index.
func (a *Answer) add(part said, isWhole bool) {
	for _, piece := range []*string{part.Content, part.Refusal} {
		if piece != nil && *piece != "" {
			a.Text += *piece
			a.Pieces = append(a.Pieces, *piece)
		}
	}
	for _, one := range part.Calls {
		var call *Call
		for _, known := range a.Calls {
			if known.Index == one.Index && !isWhole {
				call = known
			}
		}
		if call == nil || (one.ID != nil && *one.ID != "" && *one.ID != call.ID) {
			call = &Call{Index: one.Index, Type: "function"}
			a.Calls = append(a.Calls, call)
		}
		if one.ID != nil && *one.ID != "" {
			call.ID = *one.ID
		}
		if one.Function.Name != nil {
			call.Function.Name += *one.Function.Name
		}
		if one.Function.Arguments != nil {
			call.Function.Arguments += *one.Function.Arguments
		}
	}
}

// anyLine splits at CR, LF and CRLF, wherever the network cut them.
func anyLine(data []byte, atEOF bool) (int, []byte, error) {
	at := bytes.IndexAny(data, "\r\n")
	switch {
	case at < 0 && atEOF && len(data) > 0:
		return len(data), data, nil
	case at < 0 || (data[at] == '\r' && at+1 == len(data) && !atEOF):
		return 0, nil, nil
	case data[at] == '\r' && at+1 < len(data) && data[at+1] == '\n':
		return at + 2, data[:at], nil
	}
	return at + 1, data[:at], nil
}
