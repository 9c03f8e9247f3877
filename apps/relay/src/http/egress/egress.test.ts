import type { LookupAddress } from "node:dns";
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTcpServer } from "node:net";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, expectTypeOf, test } from "vitest";
import { systemRuntime } from "../../../test/processes/system-runtime.ts";
import {
  createEgress,
  type Egress,
  type EgressCode,
  EgressError,
  type EgressOptions,
} from "./egress.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

const { schedule } = systemRuntime;

function open(options: Partial<EgressOptions> = {}): Egress {
  const egress = createEgress({
    randomBytes: (length) => new Uint8Array(length).fill(7),
    privateEndpoints: "allow",
    baseUrl: undefined,
    schedule,
    ...options,
  });
  cleanups.push(() => egress.close());
  return egress;
}

/** Starts a real server on loopback and returns its port. */
async function serve(listener: RequestListener): Promise<number> {
  const server: Server = createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function closedPort(): Promise<number> {
  const server = createTcpServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** A resolver that gives the next of these answers to each query. */
function resolving(...answers: readonly (readonly string[])[]) {
  const asked: string[] = [];
  const resolve: NonNullable<EgressOptions["resolve"]> = (name, _options, done) => {
    const found = answers[Math.min(asked.length, answers.length - 1)] ?? [];
    asked.push(name);
    const addresses: LookupAddress[] = found.map((address) => ({
      address,
      family: address.includes(":") ? 6 : 4,
    }));
    done(null, addresses);
  };
  return { resolve, asked };
}

async function codeOf(call: Promise<unknown>): Promise<EgressCode | "no refusal"> {
  try {
    await call;
    return "no refusal";
  } catch (error) {
    if (error instanceof EgressError) return error.code;
    throw error;
  }
}

describe("checkUrl", () => {
  const verdict = (url: string, options: Partial<EgressOptions> = {}) => {
    const checked = open(options).checkUrl(url);
    return checked.ok ? "ok" : checked.code;
  };

  test.each([
    ["http://agent.example/mcp", "ok"],
    ["https://agent.example:8443/mcp?x=1", "ok"],
    ["", "egress.url_invalid"],
    ["agent.example", "egress.url_invalid"],
    ["http://", "egress.url_invalid"],
    ["http://256.1.1.1/", "egress.url_invalid"],
    ["ftp://agent.example/", "egress.scheme_refused"],
    ["file:///etc/passwd", "egress.scheme_refused"],
    ["javascript:alert(1)", "egress.scheme_refused"],
    ["data:text/plain,a", "egress.scheme_refused"],
    ["http://user@agent.example/", "egress.credentials_refused"],
    ["http://user:pass@agent.example/", "egress.credentials_refused"],
  ])("checkUrl checks %j as %s", (url, expected) => {
    expect(verdict(url)).toBe(expected);
  });

  test.each([
    "http://169.254.169.254/latest/meta-data/",
    "http://0xa9fea9fe/",
    "http://2852039166/",
    "http://169.254.169.254./",
    "http://[::ffff:169.254.169.254]/",
    "http://[fe80::1]/",
    "http://[fd00:ec2::254]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://100.100.100.200/",
  ])("checkUrl refuses %s with every setting", (url) => {
    for (const privateEndpoints of ["allow", "block", "auto"] as const) {
      expect(verdict(url, { privateEndpoints })).toBe("egress.address_refused");
    }
  });

  const privateUrls = [
    "http://127.0.0.1:8080/",
    "http://127.1/",
    "http://0/",
    "http://localhost:8080/",
    "http://agent.localhost./",
    "http://10.0.0.1/",
    "http://172.20.0.1/",
    "http://192.168.0.1/",
    "http://100.64.0.1/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[fd12::1]/",
  ];

  test.each<[EgressOptions["privateEndpoints"], string | undefined, string]>([
    ["allow", "https://relay.example", "ok"],
    ["block", undefined, "egress.address_refused"],
    ["auto", undefined, "ok"],
    ["auto", "http://localhost:3000", "ok"],
    ["auto", "http://127.0.0.1:3000", "ok"],
    ["auto", "http://192.168.0.5:3000", "ok"],
    ["auto", "http://relay:3000", "ok"],
    ["auto", "https://relay.example", "egress.address_refused"],
    ["auto", "http://8.8.8.8:3000", "egress.address_refused"],
  ])(
    "with the setting %s and the base URL %s the check of a private address returns %s",
    (setting, baseUrl, expected) => {
      const egress = open({ privateEndpoints: setting, baseUrl });
      for (const url of privateUrls) {
        const checked = egress.checkUrl(url);
        expect.soft(checked.ok ? "ok" : checked.code, url).toBe(expected);
      }
      expect(egress.checkUrl("https://agent.example/")).toEqual({ ok: true });
    },
  );
});

describe("fetch", () => {
  test("fetch passes method, headers, body and response through", async () => {
    const port = await serve((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        response.writeHead(201, "Made", { "content-type": "application/json", "x-got": "1" });
        response.end(JSON.stringify([request.method, request.url, request.headers["x-a"], body]));
      });
    });
    const { fetch } = open();
    const answer = await fetch(new URL(`http://127.0.0.1:${port}/mcp?q=1`), {
      method: "POST",
      headers: new Headers({ "X-A": "b" }),
      body: '{"jsonrpc":"2.0"}',
    });
    expect(answer).toBeInstanceOf(Response);
    expect([answer.status, answer.statusText, answer.ok]).toEqual([201, "Made", true]);
    expect(answer.headers.get("x-got")).toBe("1");
    expect(await answer.json()).toEqual(["POST", "/mcp?q=1", "b", '{"jsonrpc":"2.0"}']);
    expectTypeOf(fetch).toExtend<(url: string | URL, init?: RequestInit) => Promise<Response>>();
  });

  test("fetch returns a response without a body and one with an error status", async () => {
    const port = await serve((request, response) => {
      response.writeHead(request.url === "/empty" ? 204 : 500).end();
    });
    const { fetch } = open();
    const empty = await fetch(`http://127.0.0.1:${port}/empty`);
    expect([empty.status, await empty.text()]).toEqual([204, ""]);
    expect((await fetch(`http://127.0.0.1:${port}/broken`)).status).toBe(500);
  });

  test("fetch throws the code of checkUrl before anything is sent", async () => {
    let requests = 0;
    const port = await serve((_, response) => response.end(String((requests += 1))));
    const blocking = open({ privateEndpoints: "block" });
    expect(await codeOf(blocking.fetch(`http://127.0.0.1:${port}/`))).toBe(
      "egress.address_refused",
    );
    expect(await codeOf(open().fetch(`http://a@127.0.0.1:${port}/`))).toBe(
      "egress.credentials_refused",
    );
    expect(requests).toBe(0);
  });

  test.each([301, 302, 303, 307, 308])(
    "a %i redirect is refused and not followed",
    async (status) => {
      let followed = false;
      const port = await serve((request, response) => {
        followed ||= request.url === "/next";
        response.writeHead(status, { location: "/next" }).end();
      });
      expect(await codeOf(open().fetch(`http://127.0.0.1:${port}/`, { redirect: "follow" }))).toBe(
        "egress.redirect_refused",
      );
      expect(followed).toBe(false);
    },
  );

  test("fetch reports a closed port and an unknown name as unreachable", async () => {
    const port = await closedPort();
    const { fetch } = open();
    expect(await codeOf(fetch(`http://127.0.0.1:${port}/`))).toBe("egress.unreachable");
    const nowhere = open({
      resolve: (name, _, done) => {
        const error = Object.assign(new Error(name), { code: "ENOTFOUND", syscall: "queryA" });
        done(error, []);
      },
    });
    expect(await codeOf(nowhere.fetch("http://agent.example/"))).toBe("egress.unreachable");
    const twoAddresses = open(resolving(["127.0.0.1", "::1"]));
    expect(await codeOf(twoAddresses.fetch(`http://agent.example:${port}/`))).toBe(
      "egress.unreachable",
    );
  });

  test("fetch reports a connection that breaks after the request as failed", async () => {
    const port = await serve((request) => request.socket.destroy());
    expect(await codeOf(open().fetch(`http://127.0.0.1:${port}/`))).toBe("egress.failed");
  });

  test("fetch reports a server without HTTP as failed", async () => {
    const server = createTcpServer((socket) => socket.end("hello\r\n\r\n")).listen(0, "127.0.0.1");
    await once(server, "listening");
    cleanups.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    expect(await codeOf(open().fetch(`http://127.0.0.1:${port}/`))).toBe("egress.failed");
  });
});

describe("the resolved address", () => {
  const greet: RequestListener = (request, response) => response.end(request.headers.host);

  test("fetch connects to the resolved address, resolves once and keeps the name in the Host header", async () => {
    const port = await serve(greet);
    const { resolve, asked } = resolving(["127.0.0.1"], ["169.254.169.254"]);
    const answer = await open({ resolve }).fetch(`http://agent.example:${port}/`);
    expect(await answer.text()).toBe(`agent.example:${port}`);
    expect(asked).toEqual(["agent.example"]);
  });

  test("fetch refuses a name that changes from a public to a private address", async () => {
    const { resolve } = resolving(["127.0.0.1"]);
    const port = await serve(greet);
    const egress = open({ resolve, privateEndpoints: "auto", baseUrl: "https://relay.example" });
    expect(egress.checkUrl(`http://agent.example:${port}/`)).toEqual({ ok: true });
    expect(await codeOf(egress.fetch(`http://agent.example:${port}/`))).toBe(
      "egress.address_refused",
    );
  });

  test.each([["169.254.169.254"], ["fd00:ec2::254"], ["::ffff:169.254.169.254"], ["fe80::1%lo"]])(
    "%s is refused even where private addresses are allowed",
    async (address) => {
      const { fetch } = open(resolving([address]));
      expect(await codeOf(fetch("http://metadata.example/"))).toBe("egress.address_refused");
    },
  );

  test("fetch ignores the refused addresses of a name that has several", async () => {
    const port = await serve(greet);
    const { fetch } = open(resolving(["169.254.169.254", "127.0.0.1"]));
    expect((await fetch(`http://agent.example:${port}/`)).status).toBe(200);
  });
});

describe("limits", () => {
  const kibibyte = "x".repeat(1_024);

  test("fetch refuses a response with a declared length above the limit before reading it", async () => {
    const port = await serve((_, response) => {
      response.writeHead(200, { "content-length": "2049" });
      response.write(kibibyte);
    });
    const { fetch } = open({ maxResponseBytes: 2_048 });
    expect(await codeOf(fetch(`http://127.0.0.1:${port}/`))).toBe("egress.response_too_large");
  });

  test("fetch reads a response of the maximum length and aborts one byte beyond it", async () => {
    const port = await serve((request, response) => {
      response.write(kibibyte);
      response.write(kibibyte);
      response.end(request.url === "/more" ? "x" : "");
    });
    const { fetch } = open({ maxResponseBytes: 2_048 });
    const exact = await fetch(`http://127.0.0.1:${port}/`);
    expect(await exact.text()).toHaveLength(2_048);
    const more = await fetch(`http://127.0.0.1:${port}/more`);
    expect(await codeOf(more.text())).toBe("egress.response_too_large");
  });

  test("fetch aborts an endless response at the sender", async () => {
    let closed: () => void = () => undefined;
    const hungUp = new Promise<void>((resolve) => (closed = resolve));
    const port = await serve((_, response) => {
      response.on("close", () => closed());
      const pour = () => {
        while (!response.destroyed && response.write(kibibyte));
      };
      response.on("drain", pour);
      pour();
    });
    const answer = await open().fetch(`http://127.0.0.1:${port}/`);
    expect(await codeOf(answer.arrayBuffer())).toBe("egress.response_too_large");
    await hungUp;
  });

  test("fetch counts a compressed response by its decompressed size", async () => {
    const packed = gzipSync(Buffer.alloc(8 * 1_048_576));
    const port = await serve((_, response) => {
      response.writeHead(200, { "content-encoding": "gzip", "content-length": packed.length });
      response.end(packed);
    });
    const answer = await open().fetch(`http://127.0.0.1:${port}/`);
    expect(await codeOf(answer.text())).toBe("egress.response_too_large");
  });

  test("fetch times out when a response never begins", async () => {
    const port = await serve(() => undefined);
    const egress = open();
    expect(await codeOf(egress.withTimeout(50)(`http://127.0.0.1:${port}/`))).toBe(
      "egress.timeout",
    );
  });

  test("fetch times out while a response that never ends is read", async () => {
    const port = await serve((_, response) => void response.write("data: 1\n\n"));
    const answer = await open({ totalTimeoutMs: 80 }).fetch(`http://127.0.0.1:${port}/`);
    expect(answer.status).toBe(200);
    expect(await codeOf(answer.text())).toBe("egress.timeout");
  });

  test("fetch reports unreachable when no connection is made within the timeout", async () => {
    const { fetch } = open({ connectTimeoutMs: 50, resolve: () => undefined });
    expect(await codeOf(fetch("http://slow.example/"))).toBe("egress.unreachable");
  });

  test("fetch aborts a call by the caller's signal with the caller's reason", async () => {
    const port = await serve(() => undefined);
    const stop = new AbortController();
    const call = open().fetch(`http://127.0.0.1:${port}/`, { signal: stop.signal });
    const reason = new Error("task cancelled");
    setTimeout(() => stop.abort(reason), 20);
    await expect(call).rejects.toBe(reason);
  });

  test("fetch aborts reading a response by the caller's signal", async () => {
    const port = await serve((_, response) => void response.write("x"));
    const stop = new AbortController();
    const answer = await open().fetch(`http://127.0.0.1:${port}/`, { signal: stop.signal });
    const text = answer.text();
    stop.abort(new Error("task cancelled"));
    await expect(text).rejects.toThrow("task cancelled");
  });

  test("fetch cancels every timer when a call ends in any way", async () => {
    let running = 0;
    const counting: EgressOptions["schedule"] = (ms, task) => {
      running += 1;
      const cancel = schedule(ms, task);
      let cancelled = false;
      return () => {
        if (!cancelled) running -= 1;
        cancelled = true;
        cancel();
      };
    };
    const port = await serve((request, response) => {
      if (request.url === "/empty") response.writeHead(204).end();
      else if (request.url === "/redirect") response.writeHead(302, { location: "/" }).end();
      else response.end(kibibyte);
    });
    const { fetch } = open({ schedule: counting });
    const base = `http://127.0.0.1:${port}`;
    await (await fetch(`${base}/read`)).text();
    await (await fetch(`${base}/cancelled`)).body?.cancel();
    await fetch(`${base}/empty`);
    await codeOf(fetch(`${base}/redirect`));
    await codeOf(fetch(`http://127.0.0.1:${await closedPort()}/`));
    expect(running).toBe(0);
  });
});
