// Starts the strict server for a test, in any runner (node:test, Vitest, Jest, Playwright). It needs `conformance` in the PATH:
// pip install "ellmer-core[conformance]"
//
//   const server = await startServer({ script: { answers: [{ when: { user: "Hi" }, text: "Good day." }] } });
//   const client = new OpenAI({ baseURL: server.baseUrls.openai, apiKey: server.key });
//   await server.stop();  // fails if a request was illegal
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Starts a server.
 * @param {object} options
 * @param {object | string} [options.script] The script, or the path of its file. Default: the server's own model answers.
 * @param {boolean} [options.strict] Whether a request that no entry fits is an error.
 * @param {string[]} [options.allow] Ids of rules that the test breaks on purpose; "*" for all.
 * @param {string} [options.command] The command. Default: "conformance".
 */
export async function startServer({ script, strict = false, allow = [], command = "conformance" } = {}) {
  const folder = await mkdtemp(join(tmpdir(), "llm-server-"));
  const options = ["serve", "--port", "0"];
  if (script !== undefined) options.push("--script", typeof script === "string" ? script : await write(folder, script));
  if (strict) options.push("--strict-script");
  const child = spawn(command, options, { stdio: ["ignore", "pipe", "pipe"] });
  const origin = await address(child);
  return new Server(child, folder, origin, allow);
}

async function write(folder, script) {
  const path = join(folder, "answers.json");
  await writeFile(path, JSON.stringify(script));
  return path;
}

function address(child) {
  return new Promise((resolve, reject) => {
    let printed = "", errors = "";
    child.stderr.on("data", data => { errors += data; });
    child.stdout.on("data", data => {
      printed += data;
      const found = printed.match(/on (http:\/\/\S+)\n/);
      if (found) resolve(found[1]);
    });
    child.once("error", reject);
    child.once("exit", code => reject(new Error(`the server ended with ${code}: ${errors}`)));
  });
}

class Server {
  key = "any-key";

  constructor(child, folder, origin, allow) {
    Object.assign(this, { child, folder, origin, allow });
    const same = { anthropic: origin, google: origin, bedrock: origin, cohere: origin, ollama: origin };
    this.baseUrls = { openai: `${origin}/v1`, mistral: `${origin}/c/any/-@mistral`, ...same };
  }

  /** Returns the requests with their answers and violations, oldest first. */
  async requests() {
    return (await (await fetch(`${this.origin}/journal`)).json()).requests;
  }

  /** Returns a line for each violation of a rule that the API enforces. */
  async violations() {
    const requests = await this.requests();
    return requests.flatMap(({ number, violations }) => violations
      .filter(found => found.level === "MUST" && !found.preview && !this.allows(found.rule))
      .map(found => `request ${number}: ${found.rule} ${found.pointer} ${found.message}`));
  }

  allows(rule) {
    return this.allow.some(pattern => pattern === "*" || pattern === rule);
  }

  /** Stops the server, and fails if a request was illegal. */
  async stop() {
    const broken = await this.violations();
    const ended = new Promise(resolve => this.child.once("exit", resolve));
    this.child.kill("SIGINT");
    await ended;
    await rm(this.folder, { recursive: true });
    if (broken.length) throw new Error(`The real API would refuse requests of this test:\n${broken.join("\n")}`);
  }
}
