/** The tools of the agent that is attacked: their schemas are costly to check with hostile arguments. */
const unique = { type: "array", uniqueItems: true };

export const tools = [
  {
    definition: {
      name: "collect",
      description: "Counts different things",
      inputSchema: { type: "object", properties: { list: unique } },
      risk: 0,
    },
    handler: () => ({ ok: true, data: "counted" }),
  },
  {
    definition: {
      name: "match",
      description: "Takes a text of one letter",
      inputSchema: { type: "object", properties: { text: { type: "string", pattern: "^(a+)+$" } } },
      risk: 0,
    },
    handler: () => ({ ok: true, data: "matched" }),
  },
];
