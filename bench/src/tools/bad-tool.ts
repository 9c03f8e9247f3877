/** The tools module of the agent with a bad neighbour: schemas that hostile arguments make costly. */
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
