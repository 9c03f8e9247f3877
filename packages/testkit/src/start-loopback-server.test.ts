import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { startLoopbackServer } from "./start-loopback-server.ts";

test("a loopback server answers until it is closed, and closes although a connection is open", async () => {
  const server = await startLoopbackServer((_, response) => response.end("here"));
  expect(await (await fetch(server.url)).text()).toBe("here");
  const idle = connect(Number(new URL(server.url).port), "127.0.0.1").on("error", () => {});
  await once(idle, "connect");
  await server.close();
  await expect(fetch(server.url)).rejects.toThrow("fetch failed");
});
