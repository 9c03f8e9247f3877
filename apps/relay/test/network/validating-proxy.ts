import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { serve, type ServerType } from "@hono/node-server";
import type { Carrier, Fetch } from "./carrier.ts";

/** Prism in front of any number of relays, which validates all traffic against docs/openapi.json. */
export interface ValidatingProxy {
  /** Throws if an answer or a successful request does not match the document. */
  readonly carry: Carrier;
  close(): Promise<void>;
}

/** A request that is passing through the proxy. */
interface PendingRequest {
  readonly relay: Fetch;
  readonly arrived: PromiseWithResolvers<void>;
  answer?: Response;
}

interface Violation {
  readonly location: readonly string[];
  readonly message: string;
}

/** The proxy forwards to one fixed address, so each request carries a number that identifies it. */
const NUMBER_HEADER = "x-request-number";

export async function startValidatingProxy(): Promise<ValidatingProxy> {
  const asked = new Map<string, PendingRequest>();
  const upstream = await startUpstream(asked);
  const { child, address } = await startPrism(upstream);
  // An interrupted run must leave no process behind.
  const end = () => void child.kill();
  process.once("exit", end);
  let count = 0;

  const carry: Carrier = async (relay, request) => {
    const { pathname, search } = new URL(request.url);
    const body = await readableBody(request);
    // Prism does not forward an unreadable body, so it only receives the relay's answer.
    const unreadable = body === undefined ? await relay(request) : undefined;
    const number = String((count += 1));
    const mine: PendingRequest = {
      relay: unreadable === undefined ? relay : () => unreadable.clone(),
      arrived: Promise.withResolvers(),
    };
    asked.set(number, mine);
    try {
      const headers = new Headers(unreadable === undefined ? request.headers : {});
      headers.set(NUMBER_HEADER, number);
      const init = { method: request.method, headers, ...(body && { body }) };
      const answer = await fetch(`${address}${pathname}${search}`, init);
      // Prism replaces an answer with this status by its own.
      if (mine.answer?.status === 501) return mine.answer;
      const violations = parseViolations(answer).filter(
        ({ location }) => location[0] === "response" || (answer.ok && body !== undefined),
      );
      if (violations.length === 0) return answer;
      const lines = violations.map(({ location, message }) => `${location.join(".")}: ${message}`);
      const what = `${request.method} ${pathname} was answered ${answer.status}`;
      throw new Error([what, ...lines, await answer.text()].join("\n"));
    } finally {
      asked.delete(number);
      mine.arrived.resolve();
    }
  };

  return {
    carry,
    async close() {
      process.off("exit", end);
      end();
      upstream.close();
      await Promise.all([once(child, "close"), once(upstream, "close")]);
    },
  };
}

/** Starts the server to which the proxy forwards, which passes each request on to its relay. */
async function startUpstream(asked: ReadonlyMap<string, PendingRequest>): Promise<ServerType> {
  const server = serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { method } = request;
      const { pathname, search } = new URL(request.url);
      const headers = new Headers(request.headers);
      const one = asked.get(headers.get(NUMBER_HEADER) ?? "");
      if (one === undefined) throw new Error("request has no known number");
      headers.delete(NUMBER_HEADER);
      const body = await request.text();
      one.arrived.resolve();
      // Requests that are made together must arrive together, as they do in one process.
      await Promise.all([...asked.values()].map(({ arrived }) => arrived.promise));
      const init = { method, headers, ...(body && { body }) };
      const answer = await one.relay(new Request(`http://relay.test${pathname}${search}`, init));
      one.answer = answer.clone();
      return answer;
    },
  });
  await once(server, "listening");
  return server;
}

async function startPrism(upstream: ServerType): Promise<{ child: ChildProcess; address: string }> {
  const command = createRequire(import.meta.url).resolve("@stoplight/prism-cli/dist/index.js");
  const document = fileURLToPath(new URL("../../../../docs/openapi.json", import.meta.url));
  const { port } = upstream.address() as AddressInfo;
  const relay = `http://127.0.0.1:${port}`;
  const args = [command, "proxy", document, relay, "--port", "0", "--cors=false"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: child.stdout })) {
    const address = /listening on (http:\S+)/.exec(line)?.[1];
    if (address === undefined) continue;
    child.stdout.resume();
    return { child, address };
  }
  throw new Error("prism has ended");
}

/** Returns the body as text; undefined if it is truncated or is declared as JSON but is not. */
async function readableBody(request: Request): Promise<string | undefined> {
  try {
    const text = await request.clone().text();
    if (text !== "" && request.headers.get("content-type") === "application/json") JSON.parse(text);
    return text;
  } catch {
    return undefined;
  }
}

function parseViolations({ headers }: Response): Violation[] {
  const text = headers.get("sl-violations");
  if (text === null) return [];
  const isCut = text.startsWith("Too many violations!");
  return isCut ? [{ location: ["response"], message: text }] : (JSON.parse(text) as Violation[]);
}
