package agent

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"testing"
)

type entry struct {
	Request struct {
		Body struct{ Messages []message }
	}
	Response   struct{ Status int }
	Violations []struct {
		Rule, Level, Message string
		Preview              bool
	}
}

var address = regexp.MustCompile(`on (http://\S+)`)

// start starts the strict server with the script, and stops it after the test.
func start(t *testing.T) string {
	t.Helper()
	command := exec.Command("conformance", "serve", "--port", "0", "--script", "../answers.yaml", "--strict-script")
	command.Stderr = os.Stderr
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	found := address.FindStringSubmatch(line)
	if err != nil || found == nil {
		t.Fatalf("the server said %q: %v", line, err)
	}
	t.Cleanup(func() {
		for _, each := range journal(t, found[1]) {
			for _, broken := range each.Violations {
				if broken.Level == "MUST" && !broken.Preview {
					t.Errorf("the real API would refuse this: %s %s", broken.Rule, broken.Message)
				}
			}
		}
		_ = command.Process.Signal(os.Interrupt)
		_ = command.Wait()
	})
	return found[1]
}

// journal returns the requests that the server got.
func journal(t *testing.T, origin string) []entry {
	t.Helper()
	reply, err := http.Get(origin + "/journal")
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	var found struct{ Requests []entry }
	if err := json.NewDecoder(reply.Body).Decode(&found); err != nil {
		t.Fatal(err)
	}
	return found.Requests
}

func TestItAsksTheTool(t *testing.T) {
	origin := start(t)
	said, err := Answer(origin+"/v1", "any-key", "How is the weather in Paris?")
	if err != nil || said != "It is 21 °C in Paris." {
		t.Fatalf("it said %q: %v", said, err)
	}
	requests := journal(t, origin)
	messages := requests[len(requests)-1].Request.Body.Messages
	if last := messages[len(messages)-1]; last.Role != "tool" || last.Content != "21" {
		t.Errorf("the last message is %+v", last)
	}
}

func TestItTriesAgainAfterARateLimit(t *testing.T) {
	origin := start(t)
	said, err := Answer(origin+"/v1", "any-key", "Are you busy?")
	if err != nil || said != "Not any more." {
		t.Fatalf("it said %q: %v", said, err)
	}
	if requests := journal(t, origin); len(requests) != 2 || requests[0].Response.Status != 429 {
		t.Errorf("the requests are %+v", requests)
	}
}
