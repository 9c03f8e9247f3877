/** The tools module that `init` writes beside the configuration. */
export const toolsTemplate = `// What the agent can do: an array of tools. Any function fits into a handler.

function countWords(text) {
  return text.split(/\\s+/).filter((word) => word !== "").length;
}

export const tools = [
  {
    definition: {
      name: "count-words",
      description: "Counts the words of a text",
      // JSON Schema of the arguments: what does not fit never reaches the handler.
      inputSchema: {
        type: "object",
        properties: { text: { type: "string" } },
        required: ["text"],
      },
      risk: 0,
    },
    // The second argument has {signal, caller, task, delegate, progress}.
    handler: ({ text }) => ({ ok: true, data: String(countWords(text)) }),
    // When it cannot be done: {ok: false, error: "why, for the caller to read"}.
  },
];
`;
