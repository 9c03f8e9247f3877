import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Operating systems assign ports above this range to outgoing connections and to servers on port 0. */
const [FIRST, END] = [20_000, 32_000];

/**
 * Returns a port of 127.0.0.1 that a server can use later, or again after a restart: it is free now, and the
 * operating system does not assign it to another socket.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, END);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, "127.0.0.1"), "listening");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") return false;
    throw error;
  }
  await new Promise((resolve) => server.close(resolve));
  return true;
}
