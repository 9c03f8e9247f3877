import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { findFreePort } from "./find-free-port.ts";

test("a free port can be taken, and is not one that the system chooses", async () => {
  const port = await findFreePort();
  const chosen = createServer().listen(port, "127.0.0.1");
  await once(chosen, "listening");
  const given = createServer().listen(0, "127.0.0.1");
  await once(given, "listening");
  expect(port).toBeLessThan(32_768);
  expect((given.address() as AddressInfo).port).toBeGreaterThanOrEqual(32_768);
  for (const server of [chosen, given]) server.close();
});
