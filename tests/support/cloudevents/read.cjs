// What npm's `cloudevents` makes of messages: {"binding", "headers", "value"} on standard input, one
// a line; an event each, or what is wrong with it, on standard output.
const { HTTP, Kafka } = require("cloudevents");
const lines = require("node:fs").readFileSync(0, "utf8").split("\n").filter(Boolean);
for (const { binding, headers, value } of lines.map((line) => JSON.parse(line))) {
  try {
    const event =
      binding === "kafka"
        ? Kafka.toEvent({ headers, value, body: value })
        : HTTP.toEvent({ headers, body: value });
    console.log(JSON.stringify(event));
  } catch (problem) {
    console.log(JSON.stringify({ problem: problem.message }));
  }
}
