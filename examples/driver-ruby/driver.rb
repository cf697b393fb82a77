# A driver for `conformance run --command`: OpenAI Chat Completions with nothing but Ruby's standard library.
#
#     conformance run --command "ruby examples/driver-ruby/driver.rb" --wire openai-chat
#
# It takes text and tools, and says that it refuses media. https://…/driver-protocol has the protocol.
require "json"
require "net/http"

Encoding.default_external = Encoding::UTF_8

class ApiError < StandardError
  attr_reader :status, :text

  def initialize(message, status: nil, text: "")
    super(message)
    @status, @text = status, text
  end
end

class TooLong < ApiError; end
class RateLimited < ApiError; end
class Incomplete < ApiError; end

STREAM = ENV["CONFORMANCE_MODE"].include?("stream")
URL = URI("#{ENV["CONFORMANCE_BASE_URL"]}/chat/completions")
TRIES = ENV["CONFORMANCE_MAX_RETRIES"].to_i + 1
HEADERS = {
  "authorization" => "Bearer #{ENV["CONFORMANCE_API_KEY"]}", "content-type" => "application/json",
  "accept" => STREAM ? "text/event-stream" : "application/json", "user-agent" => "driver-ruby/1.0"
}
MEDIA = %w[image_in_user pdf_in_user image_in_tool_result pdf_in_tool_result]
SELF = { name: "driver-ruby", capabilities: MEDIA.to_h { |name| [name, "refused"] }, features: ["reload"] }

# A stream, put together as it comes.
class Stream
  attr_reader :pieces, :stop, :usage

  def initialize
    @rest, @data, @first = "".b, [], true
    @pieces, @calls = [], []
  end

  def add(chunk)
    @rest << chunk.b
    while (line = @rest.slice!(/\A[^\r\n]*(\r\n|\n|\r(?!\z))/n))
      take(line.chomp.force_encoding("UTF-8"))
    end
  end

  def finish
    take(@rest.chomp.force_encoding("UTF-8")) unless @rest.empty?
    raise Incomplete.new("the stream ended without a finish_reason", text: text) unless @stop
  end

  def take(line)
    line = line.delete_prefix("\uFEFF") if @first
    @first = false
    if line.start_with?("data:")
      @data << line.delete_prefix("data:").delete_prefix(" ")
    elsif line.empty? && !@data.empty?
      text, @data = @data.join("\n"), []
      event(JSON.parse(text)) unless text == "[DONE]" || @done
      @done ||= text == "[DONE]"
    end
  rescue JSON::ParserError => error
    raise Incomplete.new("an event is no JSON: #{error.message}", text: text)
  end

  def event(data)
    raise Incomplete.new(data["error"]["message"], text: text) if data["error"]
    @usage = data["usage"] || @usage
    (data["choices"] || []).each do |choice|
      @stop = choice["finish_reason"] || @stop
      delta = choice["delta"] || {}
      @pieces.concat(delta.values_at("content", "refusal").reject { |piece| piece.to_s.empty? })
      (delta["tool_calls"] || []).each { |part| call(part) }
    end
  end

  def call(part)
    known = @calls.reverse.find { |one| one[:index] == part["index"] }
    if known.nil? || (part["id"] && part["id"] != "" && part["id"] != known[:id])
      known = { index: part["index"], id: part["id"], name: +"", arguments: +"" }
      @calls << known
    end
    known[:name] << part.dig("function", "name").to_s
    known[:arguments] << part.dig("function", "arguments").to_s
  end

  def text = @pieces.join

  def answer
    calls = @calls.map { |c| { "id" => c[:id], "type" => "function", "function" => { "name" => c[:name], "arguments" => c[:arguments] } } }
    { "content" => text, "tool_calls" => calls, "stop" => @stop, "usage" => @usage, "pieces" => @pieces }
  end
end

def refused(response)
  error = (JSON.parse(response.body)["error"] rescue nil)
  message = error.is_a?(Hash) ? error["message"] : response.body
  kind = error.is_a?(Hash) && error["code"] == "context_length_exceeded" ? TooLong : response.code == "429" ? RateLimited : ApiError
  kind.new("#{response.code}: #{message}", status: response.code.to_i)
end

def whole(response)
  answer = JSON.parse(response.body)
  raise ApiError.new(answer["error"]["message"].to_s) if answer["error"]
  choice = answer["choices"][0]
  choice["message"].merge("stop" => choice["finish_reason"], "usage" => answer["usage"], "pieces" => [])
rescue JSON::ParserError, TypeError, NoMethodError => error
  raise Incomplete.new("the answer is no answer: #{error.message}")
end

def once(body)
  stream = Stream.new
  http = Net::HTTP.new(URL.host, URL.port)
  http.read_timeout, http.max_retries = 20, 0
  http.start do
    request = Net::HTTP::Post.new(URL, HEADERS)
    request.body = body
    http.request(request) do |response|
      return response, nil unless response.code == "200" && response.content_type == "text/event-stream" || (response.read_body; false)
      response.read_body { |chunk| stream.add(chunk) }
      stream.finish
      return response, stream.answer
    end
  end
rescue IOError, SystemCallError, Timeout::Error, Net::ProtocolError => error
  raise Incomplete.new("the connection broke: #{error.message}", text: stream.text)
end

def ask(messages, tools)
  body = { model: ENV["CONFORMANCE_MODEL"], messages: messages }
  body[:tools] = tools unless tools.empty?
  body.merge!(stream: true, stream_options: { include_usage: true }) if STREAM
  TRIES.times do |number|
    response, answer = once(JSON.generate(body))
    return answer if answer
    return whole(response) if response.code == "200"
    raise refused(response) unless number + 1 < TRIES && [429, 500, 502, 503].include?(response.code.to_i)
    sleep((response["retry-after-ms"]&.to_f&./(1000)) || response["retry-after"]&.to_f || 0.1)
  end
end

class Chat
  def initialize(conversation)
    @tools = conversation["tools"].to_h { |tool| [tool["name"], tool] }
    @messages = conversation["system"] ? [{ role: "system", content: conversation["system"] }] : []
    conversation["history"].each { |turn| @messages.concat(turn["role"] == "user" ? user(turn["parts"]) : [assistant(turn["parts"])]) }
  end

  def reload = @messages = JSON.parse(JSON.generate(@messages), symbolize_names: true)

  def say(step)
    @ran, before = [], @messages.dup
    reload if step["reloaded"]
    @messages += unanswered(step["parts"]) + user(step["parts"])
    answer(@tools.values.map { |tool| { type: "function", function: tool.slice("name", "description", "parameters") } })
  rescue ApiError => error
    @messages = before
    { text: error.text, error: error.message, error_class: error.class.name, status: error.status, complete: false, ran: @ran }
  end

  private

  def answer(tools)
    loop do
      found = ask(@messages, tools)
      calls = found["tool_calls"] || []
      if found["stop"] == "length" && !calls.empty?
        @messages += [{ role: "assistant", content: "(cut off)" }, { role: "user", content: "The limit cut your tool call off. Please try again." }]
        next
      end
      calls.each { |call| call["function"]["arguments"] = "{}" if call["function"]["arguments"].to_s.empty? }
      text = found.values_at("content", "refusal").join
      kept = { role: "assistant", content: text.empty? ? nil : text }
      kept[:tool_calls] = calls.map { |call| call.slice("id", "type", "function") } unless calls.empty?
      @messages << kept unless text.empty? && calls.empty?
      return told(found, text) if calls.empty?
      @messages += calls.map { |call| { role: "tool", tool_call_id: call["id"], content: run(call["function"]) } }
    end
  end

  def told(found, text)
    usage = found["usage"] || {}
    counts = { input: usage["prompt_tokens"], output: usage["completion_tokens"], cached: usage.dig("prompt_tokens_details", "cached_tokens"), reasoning: usage.dig("completion_tokens_details", "reasoning_tokens") }
    stop = { "tool_calls" => "tool", "content_filter" => "filter" }.fetch(found["stop"], found["stop"])
    { text: text, stop: stop, usage: counts, pieces: found["pieces"], ran: @ran }
  end

  def run(function)
    arguments = JSON.parse(function["arguments"])
    tool = @tools[function["name"]] or return "Error: there is no tool #{function["name"]}"
    @ran << { name: function["name"], arguments: arguments }
    result = tool["results"].find { |one| one["arguments"] == arguments } or return "Error: unexpected arguments"
    return "Error: #{result["error"]}" if result.key?("error")
    refuse_media(function["name"], result["value"]) || written(result["value"])
  rescue JSON::ParserError => error
    "Error: the arguments are no JSON: #{error.message}"
  end

  def refuse_media(name, value)
    items = value.is_a?(Array) ? value : [value]
    items.each_with_index do |item, n|
      return "Error: #{name} returned media in value[#{n}]: images and PDFs are not supported" if JSON.generate(item).include?("$media")
    end
    nil
  end

  def written(value) = value.is_a?(String) ? (value.empty? ? "(no output)" : value) : JSON.generate(value)

  def user(parts)
    results = parts.select { |part| part["type"] == "tool_result" }.map { |part| { role: "tool", tool_call_id: part["id"], content: written(part["value"]) } }
    said = parts.reject { |part| part["type"] == "tool_result" }
    raise ApiError.new("images and PDFs are not supported") unless said.all? { |part| part["type"] == "text" }
    results + (said.empty? ? [] : [{ role: "user", content: said.map { |part| { type: "text", text: part["text"].scrub("\uFFFD") } } }])
  end

  def assistant(parts)
    calls = parts.select { |part| part["type"] == "tool_call" }.map { |part| { id: part["id"], type: "function", function: { name: part["name"], arguments: JSON.generate(part["arguments"]) } } }
    text = parts.select { |part| part["type"] == "text" }.map { |part| part["text"] }.join
    message = { role: "assistant", content: text.empty? ? nil : text }
    calls.empty? ? message : message.merge(tool_calls: calls)
  end

  def unanswered(parts)
    given = parts.filter_map { |part| part["id"] if part["type"] == "tool_result" }
    (@messages.last&.fetch(:tool_calls, nil) || []).reject { |call| given.include?(call[:id]) }.map { |call| { role: "tool", tool_call_id: call[:id], content: "Error: the call was not run" } }
  end
end

# Half of a surrogate pair is no JSON to Ruby: it is replaced.
HALF = /\\u[dD][89abAB]\h\h(?!\\u[dD][c-fC-F]\h\h)/
conversation = JSON.parse(File.read(ENV["CONFORMANCE_CONVERSATION"]).gsub(HALF, "\\ufffd"))
chat = Chat.new(conversation)
conversation["steps"].each { |step| puts JSON.generate(chat.say(step)) }
puts JSON.generate(SELF) if conversation["steps"].empty?
