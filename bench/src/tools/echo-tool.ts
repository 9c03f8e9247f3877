/** The tools module of the benchmarked agent. */
export const tools = [
  {
    definition: {
      name: "echo",
      description: "Says it again",
      inputSchema: {
        type: "object",
        properties: { text: { type: "string" } },
        required: ["text"],
      },
      risk: 0,
    },
    handler: ({ text }: { text: string }) => ({ ok: true, data: text }),
  },
];
