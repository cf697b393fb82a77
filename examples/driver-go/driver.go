// A driver for `conformance run --command`: OpenAI Chat Completions with nothing but Go's standard library.
//
//	go build -o driver driver.go wire.go
//	conformance run --command ./driver --wire openai-chat
//
// It takes text and tools, and says that it refuses media. docs/conformance/driver-protocol.md has the protocol.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
)

type object = map[string]any

type Part struct {
	Type, Text, ID, Name string
	Arguments            any
	Value                any
}

type Tool struct {
	Name, Description string
	Parameters        any
	Results           []object
}

type Conversation struct {
	System  *string
	Tools   []Tool
	History []struct {
		Role  string
		Parts []Part
	}
	Steps []struct {
		Who      int
		Reloaded bool
		Parts    []Part
	}
}

func env(name string) string { return os.Getenv("CONFORMANCE_" + name) }

var stream = strings.Contains(env("MODE"), "stream")

// read decodes JSON; numbers stay as they are written.
func read(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(into)
}

func main() {
	text, err := os.ReadFile(env("CONVERSATION"))
	var conversation Conversation
	if err == nil {
		err = read(text, &conversation)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if len(conversation.Steps) == 0 {
		fmt.Println(written(declared()))
		return
	}
	chats := map[int]*Chat{}
	for _, step := range conversation.Steps {
		if chats[step.Who] == nil {
			chats[step.Who] = newChat(conversation)
		}
		fmt.Println(written(chats[step.Who].say(step.Parts, step.Reloaded)))
	}
}

func declared() object {
	refused := object{}
	for _, name := range []string{"image_in_user", "pdf_in_user", "image_in_tool_result", "pdf_in_tool_result"} {
		refused[name] = "refused"
	}
	return object{"name": "driver-go", "capabilities": refused, "features": []string{"conversations", "reload"}}
}

// A Chat is one conversation: its messages, as they are sent.
type Chat struct {
	tools    []Tool
	messages []any
	ran      []object
}

func newChat(conversation Conversation) *Chat {
	chat := &Chat{tools: conversation.Tools}
	if conversation.System != nil {
		chat.messages = append(chat.messages, object{"role": "system", "content": *conversation.System})
	}
	for _, turn := range conversation.History {
		if turn.Role == "user" {
			said, _ := user(turn.Parts)
			chat.messages = append(chat.messages, said...)
		} else {
			chat.messages = append(chat.messages, assistant(turn.Parts))
		}
	}
	return chat
}

func (c *Chat) say(parts []Part, reloaded bool) object {
	c.ran = []object{}
	if reloaded {
		saved := written(c.messages)
		c.messages = nil
		if err := read([]byte(saved), &c.messages); err != nil {
			panic(err)
		}
	}
	before := append([]any{}, c.messages...)
	said, err := user(parts)
	if err == nil {
		c.messages = append(append(c.messages, c.unanswered(parts)...), said...)
		var answer *Answer
		if answer, err = c.answer(); err == nil {
			return told(answer, c.ran)
		}
	}
	c.messages = before
	failure, known := err.(*Failure)
	if !known {
		failure = &Failure{Class: "Error", Message: err.Error()}
	}
	reply := object{"text": failure.Text, "error": failure.Message, "error_class": failure.Class, "complete": false, "ran": c.ran}
	if failure.Status != 0 {
		reply["status"] = failure.Status
	}
	return reply
}

// answer asks until no tool is called. A call that the limit cut is never run.
func (c *Chat) answer() (*Answer, error) {
	offered := []any{}
	for _, tool := range c.tools {
		function := object{"name": tool.Name, "description": tool.Description, "parameters": tool.Parameters}
		offered = append(offered, object{"type": "function", "function": function})
	}
	for {
		answer, err := ask(c.messages, offered)
		if err != nil {
			return nil, err
		}
		if answer.Stop == "length" && len(answer.Calls) > 0 {
			cut := "The token limit cut your tool call off. Please try again."
			c.messages = append(c.messages, message("assistant", orElse(answer.Text, "(cut off)")), message("user", cut))
			continue
		}
		for _, call := range answer.Calls {
			call.Function.Arguments = orElse(call.Function.Arguments, "{}")
		}
		if answer.Text != "" || len(answer.Calls) > 0 {
			c.messages = append(c.messages, kept(answer.Text, answer.Calls))
		}
		if len(answer.Calls) == 0 {
			return answer, nil
		}
		for _, call := range answer.Calls {
			result := c.run(call.Function.Name, call.Function.Arguments)
			c.messages = append(c.messages, object{"role": "tool", "tool_call_id": call.ID, "content": result})
		}
	}
}

func (c *Chat) run(name, text string) string {
	var given any
	if err := read([]byte(text), &given); err != nil {
		return "Error: the arguments are no JSON: " + err.Error()
	}
	for _, tool := range c.tools {
		if tool.Name != name {
			continue
		}
		c.ran = append(c.ran, object{"name": name, "arguments": given})
		for _, result := range tool.Results {
			if reflect.DeepEqual(result["arguments"], given) {
				return outcome(name, result)
			}
		}
		return "Error: unexpected arguments"
	}
	return "Error: there is no tool " + name
}

func outcome(name string, result object) string {
	if failed, raised := result["error"]; raised {
		return fmt.Sprint("Error: ", failed)
	}
	items, isList := result["value"].([]any)
	if !isList {
		items = []any{result["value"]}
	}
	for n, item := range items {
		if strings.Contains(written(item), `"$media"`) {
			return fmt.Sprintf("Error: %s returned media in value[%d]: images and PDFs are not supported", name, n)
		}
	}
	return content(result["value"])
}

// unanswered repairs calls at the end of the history that nobody answered.
func (c *Chat) unanswered(parts []Part) []any {
	given := map[string]bool{}
	for _, part := range parts {
		given[part.ID] = part.Type == "tool_result"
	}
	results := []any{}
	if len(c.messages) == 0 {
		return results
	}
	last, _ := c.messages[len(c.messages)-1].(object)
	calls, _ := last["tool_calls"].([]*Call)
	for _, call := range calls {
		if !given[call.ID] {
			results = append(results, object{"role": "tool", "tool_call_id": call.ID, "content": "Error: the call was not run"})
		}
	}
	return results
}

func user(parts []Part) ([]any, error) {
	messages, said := []any{}, []any{}
	for _, part := range parts {
		switch part.Type {
		case "tool_result":
			messages = append(messages, object{"role": "tool", "tool_call_id": part.ID, "content": content(part.Value)})
		case "text":
			said = append(said, object{"type": "text", "text": part.Text})
		default:
			return nil, &Failure{Class: "NotSupported", Message: "images and PDFs are not supported"}
		}
	}
	if len(said) > 0 {
		messages = append(messages, object{"role": "user", "content": said})
	}
	return messages, nil
}

func assistant(parts []Part) object {
	text, calls := "", []*Call{}
	for _, part := range parts {
		if part.Type == "text" {
			text += part.Text
			continue
		}
		call := &Call{ID: part.ID, Type: "function"}
		call.Function.Name, call.Function.Arguments = part.Name, written(part.Arguments)
		calls = append(calls, call)
	}
	return kept(text, calls)
}

func kept(text string, calls []*Call) object {
	said := object{"role": "assistant", "content": nil}
	if text != "" {
		said["content"] = text
	}
	if len(calls) > 0 {
		said["tool_calls"] = calls
	}
	return said
}

func message(role, text string) object { return object{"role": role, "content": text} }

func content(value any) string {
	if text, isText := value.(string); isText {
		return orElse(text, "(no output)")
	}
	return written(value)
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

func told(answer *Answer, ran []object) object {
	counts := object{}
	if usage := answer.Usage; usage != nil {
		counts = object{"input": usage.Prompt, "output": usage.Completion, "cached": usage.In.Cached, "reasoning": usage.Out.Reasoning}
	}
	stop, known := map[string]string{"tool_calls": "tool", "content_filter": "filter"}[answer.Stop]
	if !known {
		stop = answer.Stop
	}
	return object{"text": answer.Text, "stop": stop, "usage": counts, "pieces": answer.Pieces, "ran": ran}
}
