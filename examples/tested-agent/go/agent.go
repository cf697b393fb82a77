// Package agent is a weather agent over Chat Completions, with nothing but the standard library.
package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

var celsius = map[string]int{"Paris": 21, "Oslo": -3}

var tools = json.RawMessage(`[{"type": "function", "function": {"name": "get_weather",
	"description": "Returns the temperature in a city, in degrees Celsius.",
	"parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}]`)

type call struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type message struct {
	Role       string `json:"role"`
	Content    string `json:"content"`
	ToolCalls  []call `json:"tool_calls,omitempty"`
	ToolCallID string `json:"tool_call_id,omitempty"`
}

// Answer answers a question, and calls the tool as often as the model wants.
func Answer(base, key, question string) (string, error) {
	messages := []message{{Role: "user", Content: question}}
	for {
		said, err := ask(base, key, messages)
		if err != nil || len(said.ToolCalls) == 0 {
			return said.Content, err
		}
		messages = append(messages, said)
		for _, each := range said.ToolCalls {
			var given struct{ City string }
			if err := json.Unmarshal([]byte(each.Function.Arguments), &given); err != nil {
				return "", err
			}
			result := strconv.Itoa(celsius[given.City])
			messages = append(messages, message{Role: "tool", ToolCallID: each.ID, Content: result})
		}
	}
}

func ask(base, key string, messages []message) (message, error) {
	body, err := json.Marshal(map[string]any{"model": "gpt-4.1", "messages": messages, "tools": tools})
	if err != nil {
		return message{}, err
	}
	for attempt := 0; ; attempt++ {
		request, err := http.NewRequest("POST", base+"/chat/completions", bytes.NewReader(body))
		if err != nil {
			return message{}, err
		}
		request.Header.Set("Authorization", "Bearer "+key)
		request.Header.Set("Content-Type", "application/json")
		reply, err := http.DefaultClient.Do(request)
		if err != nil {
			return message{}, err
		}
		defer reply.Body.Close()
		if reply.StatusCode == http.StatusTooManyRequests && attempt < 2 {
			wait, _ := strconv.Atoi(reply.Header.Get("Retry-After"))
			time.Sleep(time.Duration(wait) * time.Second)
			continue
		}
		if reply.StatusCode != http.StatusOK {
			return message{}, fmt.Errorf("the API answered %s", reply.Status)
		}
		var found struct{ Choices []struct{ Message message } }
		if err := json.NewDecoder(reply.Body).Decode(&found); err != nil {
			return message{}, err
		}
		return found.Choices[0].Message, nil
	}
}
