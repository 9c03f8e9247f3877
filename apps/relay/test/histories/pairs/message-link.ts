import type { IncomingMessage, ServerResponse } from "node:http";
import { startLoopbackServer, type LoopbackServer } from "@agent/testkit";
import { limits } from "@agent/wire";
import type { HistoryRelay } from "../history-relay.ts";

/**
 * The faults of a network for one message: it is lost, its answer is lost, it arrives later or twice, the answer
 * comes after the sender has stopped waiting, a proxy answers in the relay's place.
 */
export const LINK_FAULTS = ["lost", "unanswered", "later", "twice", "slow", "busy"] as const;
export type LinkFault = (typeof LINK_FAULTS)[number];

interface Message {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

const MAX_SENT = 40;
const MAX_PLUG_ATTEMPTS = 100;

/** The address of a relay for its peer, where messages are lost, delayed and repeated. */
export class MessageLink {
  /** The relay behind the address; undefined until it has started. */
  relay: HistoryRelay | undefined;
  /** The peer that sends the messages. */
  sender: HistoryRelay | undefined;
  /** Bit n says whether the n-th message from now on meets the fault. */
  pattern = 0;
  fault: LinkFault = "lost";
  /** The part of a path whose messages are all lost; undefined loses none. */
  lostPath: string | undefined;
  #server: LoopbackServer;
  #isPlugged = true;
  readonly url: string;
  readonly #late: Message[] = [];
  readonly #sent: Message[] = [];

  private constructor(server: LoopbackServer) {
    this.#server = server;
    this.url = server.url;
  }

  static async open(): Promise<MessageLink> {
    let link: MessageLink | undefined;
    const server = await startLoopbackServer((incoming, outgoing) => {
      void link?.receive(incoming, outgoing);
    });
    link = new MessageLink(server);
    return link;
  }

  /** Refuses all connections until the link is plugged in again. */
  async unplug(): Promise<void> {
    if (!this.#isPlugged) return;
    this.#isPlugged = false;
    await this.#server.close();
  }

  async plug(): Promise<void> {
    if (this.#isPlugged) return;
    const port = Number(new URL(this.url).port);
    for (let attempt = 1; !this.#isPlugged; attempt += 1) {
      try {
        this.#server = await startLoopbackServer((incoming, outgoing) => {
          void this.receive(incoming, outgoing);
        }, port);
        this.#isPlugged = true;
      } catch (error) {
        // A short connection of another test may use the port meanwhile.
        if (attempt === MAX_PLUG_ATTEMPTS) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }

  /** Delivers the messages that were to arrive later; their senders are no longer waiting. */
  async deliverLate(): Promise<void> {
    for (const message of this.#late.splice(0)) await this.#deliver(message);
  }

  /** Delivers one of the last messages again. */
  async replay(pick: number): Promise<void> {
    const message = this.#sent.length === 0 ? undefined : this.#sent[pick % this.#sent.length];
    if (message !== undefined) await this.#deliver(message);
  }

  async receive(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const message = await readMessage(incoming);
    const fault = this.#nextFault(message);
    if (this.sender?.isRunning === false || fault === "lost") {
      this.#note(message, "lost");
      return void incoming.socket.destroy();
    }
    if (fault === "busy") return void outgoing.writeHead(429, { "retry-after": "60" }).end();
    if (fault === "later") {
      this.#late.push(message);
      this.#note(message, "will arrive later");
      return void incoming.socket.destroy();
    }
    this.#sent.push(message);
    if (this.#sent.length > MAX_SENT) this.#sent.shift();
    const [answer] = await Promise.all([
      this.#deliver(message),
      ...(fault === "twice" ? [this.#deliver(message)] : []),
    ]);
    if (fault === "slow") await this.relay?.clock.advance(limits.federationTimeoutMs + 1);
    if (answer === undefined || fault === "unanswered") {
      this.#note(message, "its answer is lost");
      return void incoming.socket.destroy();
    }
    outgoing.writeHead(answer.status, Object.fromEntries(answer.headers));
    outgoing.end(answer.text);
  }

  /** Returns the answer; undefined if the relay is not running, or was killed before it answered. */
  async #deliver({ method, path, headers, body }: Message) {
    const { relay } = this;
    if (relay?.isRunning !== true) return undefined;
    const { t } = relay;
    const request = new Request(`http://relay.test${path}`, {
      method,
      headers,
      ...(body !== "" && { body }),
    });
    const answer = await t.relay.fetch(request);
    const text = await answer.text();
    relay.note(`  ${relay.name} gets ${method} ${path}: ${answer.status} ${parseCode(text)}`);
    const isAlive = relay.isRunning && relay.t === t;
    return isAlive ? { status: answer.status, headers: answer.headers, text } : undefined;
  }

  #nextFault({ path }: Message): LinkFault | undefined {
    if (this.lostPath !== undefined && path.includes(this.lostPath)) return "lost";
    const isHit = this.pattern % 2 === 1;
    this.pattern = Math.floor(this.pattern / 2);
    return isHit ? this.fault : undefined;
  }

  #note({ method, path }: Message, what: string): void {
    this.relay?.note(`  to ${this.relay.name}: ${method} ${path}: ${what}`);
  }

  async close(): Promise<void> {
    await this.unplug();
  }
}

async function readMessage(incoming: IncomingMessage): Promise<Message> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (typeof value === "string" && name !== "connection") headers.set(name, value);
  }
  return {
    method: incoming.method ?? "GET",
    path: incoming.url ?? "/",
    headers,
    body: Buffer.concat(chunks).toString(),
  };
}

function parseCode(text: string): string {
  try {
    const { code } = JSON.parse(text) as { readonly code?: unknown };
    return typeof code === "string" ? code : "";
  } catch {
    return "";
  }
}
