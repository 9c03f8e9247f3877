import type { GuideShell } from "./guide-shell.ts";

/** Starts a relay for a guide that is about something else, and gives the reader the operator's token. */
export async function startRelay(shell: GuideShell): Promise<void> {
  shell.variables["AGENT_API_TOKEN"] = "operator-of-the-guides-0123456789";
  const settings = `AGENT_HOST=127.0.0.1 X402_PAY_TO_ADDRESS=0x${"0".repeat(40)}`;
  await shell.start("relay", `${settings} node apps/relay/dist/main.js`);
}

/**
 * Starts an agent that returns a text in capital letters for 1 USD and allows inspections; its id is in
 * `WORKER_ID`.
 */
export async function startWorker(shell: GuideShell): Promise<void> {
  shell.writeFile("shout.mjs", SHOUT);
  shell.writeFile("worker.json", JSON.stringify(WORKER));
  await shell.start("worker", "node apps/agent-server/dist/main.js --config worker.json");
  shell.variables["WORKER_ID"] = (
    await shell.run("node -p 'JSON.parse(fs.readFileSync(\"worker/identity.json\")).agent_id'")
  ).trim();
}

const SHOUT = `export const tools = [
  {
    definition: {
      name: "shout",
      description: "Says it louder",
      inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      risk: 0,
    },
    handler: ({ text }) => ({ ok: true, data: text.toUpperCase() }),
  },
];
`;

const WORKER = {
  name: "worker",
  tools: ["./shout.mjs"],
  dataDir: "./worker",
  relay: { url: "http://127.0.0.1:3000" },
  listing: {
    capabilities: ["shout"],
    pricing: [{ capability: "shout", unit_cost: 1 }],
    acceptance: { window_ms: 3_600_000 },
  },
};
