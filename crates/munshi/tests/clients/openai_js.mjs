// OpenAI's own JavaScript package against a server: node openai_js.mjs PACKAGE URL KEY
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";

const [folder, baseURL, apiKey] = process.argv.slice(2);
const { default: OpenAI, NotFoundError } = await import(pathToFileURL(`${folder}/index.mjs`).href);
const client = new OpenAI({ baseURL, apiKey });
const question = [{ role: "user", content: "When do you open?" }];
const answer = "We open at nine. Come soon.";
const weather = [{ role: "user", content: "What is the weather in Pune?" }];
const parameters = { type: "object", properties: { city: { type: "string" } } };
const tools = [{ type: "function", function: { name: "get_weather", description: "The weather.", parameters } }];

const listed = [];
for await (const model of client.models.list()) listed.push(model.id);
assert.ok(listed.includes("counter"));

const whole = await client.chat.completions.create({ model: "counter", messages: question });
assert.equal(whole.choices[0].message.content, answer);
assert.ok(whole.usage.total_tokens > 0);

let heard = "";
let used;
const stream = await client.chat.completions.create({
  model: "counter", messages: question, stream: true, stream_options: { include_usage: true },
});
for await (const piece of stream) {
  heard += piece.choices[0]?.delta?.content ?? "";
  used = piece.usage ?? used;
}
assert.equal(heard, answer);
assert.ok(used.total_tokens > 0);

const asked = await client.chat.completions.create({ model: "counter", messages: weather, tools });
assert.equal(asked.choices[0].finish_reason, "tool_calls");
const [call] = asked.choices[0].message.tool_calls;
assert.deepEqual(JSON.parse(call.function.arguments), { city: "Pune" });
const back = [...weather, asked.choices[0].message, { role: "tool", tool_call_id: call.id, content: "sunny" }];
const end = await client.chat.completions.create({ model: "counter", messages: back, tools });
assert.equal(end.choices[0].message.content, "It is sunny in Pune.");

const runner = client.chat.completions.runTools({
  model: "counter", messages: weather, stream: true,
  tools: [{ type: "function", function: { name: "get_weather", parse: JSON.parse, parameters, description: "The weather.",
    function: ({ city }) => `sunny in ${city}` } }],
});
assert.equal(await runner.finalContent(), "It is sunny in Pune.");

const made = await client.embeddings.create({ model: "counter", input: ["rice"] });
assert.ok(made.data[0].embedding.length > 8);

await assert.rejects(client.chat.completions.create({ model: "gpt-5", messages: question }), (error) => {
  assert.ok(error instanceof NotFoundError);
  assert.equal(error.code, "model_not_found");
  return true;
});
