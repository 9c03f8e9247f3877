/** The tools module that `init` writes beside the configuration. */
export const toolsTemplate = `// The agent's tools. A handler may call any function.

function countWords(text) {
  return text.split(/\\s+/).filter((word) => word !== "").length;
}

export const tools = [
  {
    definition: {
      name: "count-words",
      description: "Counts the words of a text",
      // JSON Schema of the arguments; invalid ones never reach the handler.
      inputSchema: {
        type: "object",
        properties: { text: { type: "string" } },
        required: ["text"],
      },
      risk: 0,
    },
    // The second argument has {signal, caller, task, delegate, progress}.
    handler: ({ text }) => ({ ok: true, data: String(countWords(text)) }),
    // On failure return {ok: false, error: "the reason, for the caller"}.
  },
];
`;
