import type { Server } from "@modelcontextprotocol/server";
import {
  serveStdio,
  StdioServerTransport,
  type StdioServerHandle,
} from "@modelcontextprotocol/server/stdio";
import type { Readable, Writable } from "node:stream";

/** Serves one client over a pair of streams, in the protocol era that it chooses. */
export function serveStdioStreams(options: {
  newServer: () => Server;
  input: Readable;
  output: Writable;
}): StdioServerHandle {
  const { newServer, input, output } = options;
  return serveStdio(newServer, { transport: new StdioServerTransport(input, output) });
}
