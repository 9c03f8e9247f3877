import type { Server } from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import type { Readable, Writable } from "node:stream";

export interface StdioConnection {
  close(): Promise<void>;
}

/** Serves one client over a pair of streams; `onEnd` is called when the client closes its end. */
export function serveStreams(options: {
  newServer: () => Server;
  input: Readable;
  output: Writable;
  onEnd: () => void;
}): StdioConnection {
  const { newServer, input, output, onEnd } = options;
  const handle = serveStdio(() => newServer(), {
    transport: new StdioServerTransport(input, output),
  });
  input.once("end", onEnd);
  return { close: () => handle.close() };
}
