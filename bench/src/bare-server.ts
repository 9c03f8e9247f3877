import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";

/** Measures the cost of a request without work: parse a JSON body, answer a JSON body. */
const app = new Hono();
app.post("/", async (c) => {
  const body = await c.req.json<{ id: string }>();
  return c.json({ id: body.id, status: "ok" });
});

const server = createAdaptorServer({ fetch: app.fetch });
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address !== null && typeof address === "object") {
    process.stdout.write(`{"port":${address.port}}\n`);
  }
});
process.on("SIGTERM", () => process.exit(0));
