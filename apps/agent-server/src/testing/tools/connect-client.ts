import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

export type ProtocolEra = "auto" | "legacy";

/** Connects the official client with a bearer token. */
export async function connectClient(
  url: URL | string | undefined,
  token: string,
  mode: ProtocolEra = "auto",
): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url ?? ""), { requestInit }));
  return client;
}

/** Returns the first text of a tool's answer. */
export async function callText(
  client: Client,
  name: string,
  args: Record<string, unknown> = {},
): Promise<string> {
  const { content } = await client.callTool({ name, arguments: args });
  const [block] = content;
  return block?.type === "text" ? block.text : "";
}

/** Calls a tool with one text parameter. */
export async function callTextTool(
  url: URL | string | undefined,
  token: string,
  name: string,
  text = "",
): Promise<string> {
  const client = await connectClient(url, token);
  try {
    return await callText(client, name, { text });
  } finally {
    await client.close();
  }
}
