import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { afterEach, describe, expect, test } from "vitest";
import { systemRuntime } from "../../../test/processes/system-runtime.ts";
import { createEgress } from "./egress.ts";
import {
  createNameResolver,
  listCandidates,
  parseHosts,
  parseSearchDomains,
  type LocalNames,
} from "./resolve-name.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

const { schedule } = systemRuntime;

const QUESTION_AT = 12;
const TYPES = { A: 1, AAAA: 28 };
const NO_SUCH_NAME = 3;

interface DnsQuestion {
  readonly name: string;
  readonly type: number;
  /** The position behind the question. */
  readonly end: number;
}

function readQuestion(message: Buffer): DnsQuestion {
  const labels: string[] = [];
  let at = QUESTION_AT;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join("."), type: message.readUInt16BE(at + 1), end: at + 5 };
}

/** Builds the answer with one address, or the answer that the name has none. */
function buildAnswer(message: Buffer, { end }: DnsQuestion, address: Buffer | undefined): Buffer {
  const head = Buffer.from(message.subarray(0, QUESTION_AT));
  head.writeUInt16BE(0x8180 + (address === undefined ? NO_SUCH_NAME : 0), 2);
  head.writeUInt16BE(address === undefined ? 0 : 1, 6);
  head.writeUInt32BE(0, 8);
  const question = message.subarray(QUESTION_AT, end);
  if (address === undefined) return Buffer.concat([head, question]);
  const record = Buffer.alloc(12);
  record.writeUInt16BE(0xc000 + QUESTION_AT, 0);
  record.writeUInt16BE(address.length === 4 ? TYPES.A : TYPES.AAAA, 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt16BE(address.length, 10);
  return Buffer.concat([head, question, record, address]);
}

const LOOPBACK_V4 = Buffer.from([127, 0, 0, 1]);
const LOOPBACK_V6 = Buffer.concat([Buffer.alloc(15), Buffer.from([1])]);

/**
 * Starts a DNS server. It knows `here.test` and `both.test`, says nothing about names in `silent.test` and about
 * the second family of `here.test`, and says of all others that they do not exist.
 */
async function startDnsServer() {
  const asked: string[] = [];
  const socket = createSocket("udp4");
  socket.on("message", (message, from) => {
    const question = readQuestion(message);
    const { name, type } = question;
    asked.push(name);
    if (name.endsWith("silent.test") || (name === "here.test" && type === TYPES.AAAA)) return;
    const isKnown = name === "here.test" || name === "both.test" || name === "short.corp.test";
    const address = type === TYPES.A ? LOOPBACK_V4 : LOOPBACK_V6;
    const answer = buildAnswer(message, question, isKnown ? address : undefined);
    socket.send(answer, from.port, from.address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  cleanups.push(() => socket.close());
  return { address: `127.0.0.1:${socket.address().port}`, asked };
}

async function openResolver(localNames: Partial<LocalNames> = {}) {
  const { address, asked } = await startDnsServer();
  const names = createNameResolver({
    schedule,
    servers: [address],
    readLocalNames: () => ({ hosts: parseHosts(""), searchDomains: [], ...localNames }),
  });
  cleanups.push(() => names.close());
  const resolve = promisify(names.resolve);
  const find = async (name: string, family = 0) =>
    (await resolve(name, { family, all: true })).map((each) => each.address);
  return { names, find, asked };
}

describe("names of DNS servers", () => {
  test("H19: names whose DNS servers are silent delay no other name", async () => {
    const { find, names } = await openResolver();
    // The system's lookup would answer after the silent ones, 100 s later.
    const silent = Array.from({ length: 50 }, (_, at) => find(`n${at}.silent.test`));
    const ended = Promise.allSettled(silent);
    const firstEnd = Promise.allSettled([Promise.race(silent)]);
    expect(await Promise.race([find("both.test"), firstEnd])).toEqual(["127.0.0.1", "::1"]);
    names.close();
    for (const each of await ended) expect(each.status).toBe("rejected");
  });

  test("H19: a request is answered beside requests to names whose DNS servers are silent", async () => {
    const server = createServer((_, response) => response.end("here")).listen(0, "127.0.0.1");
    await once(server, "listening");
    cleanups.push(() => server.close());
    const { names } = await openResolver();
    const egress = createEgress({
      randomBytes: (length) => new Uint8Array(length),
      privateEndpoints: "allow",
      baseUrl: undefined,
      schedule,
      resolve: names.resolve,
    });
    cleanups.push(() => egress.close());
    const silent = Array.from({ length: 20 }, (_, at) =>
      egress.fetch(`http://n${at}.silent.test/`).catch(() => "no address"),
    );
    const { port } = server.address() as AddressInfo;
    const here = egress.fetch(`http://here.test:${port}/`).then((answer) => answer.text());
    expect(await Promise.race([here, ...silent])).toBe("here");
    await egress.close();
    await Promise.all(silent);
  });

  test("the resolver waits only briefly for the address family that is not answered", async () => {
    const { find } = await openResolver();
    const waits: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const began = performance.now();
      expect(await find("here.test")).toEqual(["127.0.0.1"]);
      waits.push(performance.now() - began);
    }
    // The fastest, because other processes can delay the others.
    expect(Math.min(...waits)).toBeLessThan(1_000);
  });

  test.each([
    [4, ["127.0.0.1"]],
    [6, ["::1"]],
  ])("the resolver returns only addresses of family %i when asked so", async (family, expected) => {
    const { find } = await openResolver();
    expect(await find("both.test", family)).toEqual(expected);
  });

  test("the resolver tries the search domains for a name that does not exist as it is given", async () => {
    const { find, asked } = await openResolver({ searchDomains: ["dept.test", "corp.test"] });
    expect(await find("short")).toEqual(["127.0.0.1", "::1"]);
    expect([...new Set(asked)]).toEqual(["short", "short.dept.test", "short.corp.test"]);
  });

  test("the resolver rejects a name that no server knows with an error for the name as it was given", async () => {
    const { find } = await openResolver({ searchDomains: ["corp.test"] });
    await expect(find("nowhere.test")).rejects.toMatchObject({
      code: "ENOTFOUND",
      hostname: "nowhere.test",
    });
  });
});

describe("names of this machine", () => {
  test("the resolver answers a name in the hosts file without a query", async () => {
    const { find, asked } = await openResolver({ hosts: parseHosts("192.0.2.7 db.internal db") });
    expect(await find("DB.internal.")).toEqual(["192.0.2.7"]);
    expect(asked).toEqual([]);
  });

  test.each(["localhost", "agent.localhost"])(
    "the resolver resolves %s to this machine",
    async (name) => {
      const { find, asked } = await openResolver();
      expect(await find(name)).toEqual(["127.0.0.1", "::1"]);
      expect(asked).toEqual([]);
    },
  );

  test("the resolver reads several lines and comments of a hosts file", () => {
    const hosts = parseHosts(
      "127.0.0.1 localhost\n# 192.0.2.1 old\n192.0.2.2\tdb  Db2 # both\n2001:db8::2 db\n\n",
    );
    const addresses = [...hosts].map(([name, found]) => [name, found.map((each) => each.address)]);
    expect(Object.fromEntries(addresses)).toEqual({
      localhost: ["127.0.0.1"],
      db: ["192.0.2.2", "2001:db8::2"],
      db2: ["192.0.2.2"],
    });
  });

  test.each([
    ["", []],
    ["nameserver 192.0.2.53\nsearch a.test b.test\n", ["a.test", "b.test"]],
    ["domain old.test\nsearch new.test\n", ["new.test"]],
    ["search .\n", []],
  ])("the resolver reads the search domains of %j", (text, domains) => {
    expect(parseSearchDomains(text)).toEqual(domains);
  });

  test("the resolver appends no search domain to a complete name", () => {
    expect(listCandidates("agent.example.", ["corp.test"])).toEqual(["agent.example."]);
    expect(listCandidates("agent", ["corp.test"])).toEqual(["agent", "agent.corp.test"]);
  });
});
