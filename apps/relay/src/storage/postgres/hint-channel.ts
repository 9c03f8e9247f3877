import { Client, type Notification } from "pg";
import type { Runtime } from "../../runtime.ts";
import type { HintListeners, Hints } from "../storage.ts";
import { toClientConfig } from "./connection-settings.ts";

const CHANNEL = "relay";
/** Hints that are sent within this time share a message. */
const COLLECT_MS = 5;
/** The server accepts less than 8,000 bytes per message. */
const MAX_MESSAGE_BYTES = 7_900;
/** A connection on which the server does not answer for this long is replaced. */
const PING_TIMEOUT_MS = 5_000;

/** The hint that changes were committed; every other hint is the id of a task. */
const CHANGES = "*";

/** The hints of one process, on a connection of its own. */
export interface HintChannel extends Hints {
  /** Sends the hint that changes were committed. */
  sendChanges(): void;
  close(): Promise<void>;
}

/**
 * Opens a channel that notifies other processes outside transactions, because a notifying transaction takes
 * a lock on the whole server until it has committed. `url` must lead to the server itself or to a pooler
 * that keeps sessions; without it, nothing is sent or received.
 */
export function createHintChannel(url: string | undefined, sender: Sender): HintChannel {
  return new NotifyingChannel(url, sender);
}

interface Sender {
  /** The mark by which a process recognises the hints that it sent itself. */
  readonly origin: string;
  readonly schedule: Runtime["schedule"];
}

class NotifyingChannel implements HintChannel {
  readonly #url: string | undefined;
  readonly #origin: string;
  readonly #schedule: Runtime["schedule"];
  readonly #listeners: HintListeners[] = [];
  #client: Client | undefined;
  #isNeeded = false;
  #isReady = false;
  #isClosed = false;
  #collected = new Set<string>();
  #cancelSending: (() => void) | undefined;

  constructor(url: string | undefined, { origin, schedule }: Sender) {
    this.#url = url;
    this.#origin = origin;
    this.#schedule = schedule;
  }

  keepOpen(hasOthers: boolean): void {
    this.#isNeeded = hasOthers;
    if (this.#url === undefined || this.#isClosed) return;
    if (hasOthers && this.#client === undefined) void this.#connect(this.#url);
    else if (this.#client !== undefined && !hasOthers) this.#discard(this.#client);
    else if (this.#isReady) this.#ping();
  }

  isMissing(): boolean {
    return this.#isNeeded && !this.#isReady;
  }

  listen(listeners: HintListeners): void {
    this.#listeners.push(listeners);
  }

  sendTask(taskId: string): void {
    this.#send(taskId);
  }

  sendChanges(): void {
    this.#send(CHANGES);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelSending?.();
    const client = this.#client;
    if (client !== undefined) this.#discard(client);
  }

  /** A failure is not reported: polling continues, and the next round of the process tries again. */
  async #connect(url: string): Promise<void> {
    // Hints wait for no answer, and a pipelined connection ends if a statement gets none for too long.
    const config = {
      ...toClientConfig(url),
      application_name: "agent-relay-hints",
      pipeline: true,
    };
    const client = new Client(config);
    this.#client = client;
    const discard = () => this.#discard(client);
    client.on("error", discard).on("end", discard);
    client.on("notification", (notification) => this.#receive(notification));
    try {
      await client.connect();
      // A hint may be lost in a crash of the server, so it does not wait for a write of the server's log.
      await client.query(`SET synchronous_commit TO off; LISTEN ${CHANNEL}`);
      if (this.#client === client) this.#isReady = true;
    } catch {
      discard();
    }
  }

  #discard(client: Client): void {
    if (this.#client === client) {
      this.#client = undefined;
      this.#isReady = false;
    }
    client.end().catch(() => {});
  }

  /** A network may go silent without ending a connection, which a process that only listens would not notice. */
  #ping(): void {
    const client = this.#client;
    const ping = { text: "SELECT 1", query_timeout: PING_TIMEOUT_MS };
    client?.query(ping).catch(() => this.#discard(client));
  }

  #send(hint: string): void {
    if (!this.#isReady) return;
    this.#collected.add(hint);
    this.#cancelSending ??= this.#schedule(COLLECT_MS, () => this.#flush());
  }

  #flush(): void {
    this.#cancelSending = undefined;
    const client = this.#client;
    const hints = [...this.#collected];
    this.#collected.clear();
    if (client === undefined) return;
    for (const payload of packHints(this.#origin, hints)) {
      const notify = { name: "notify", text: `SELECT pg_notify('${CHANNEL}', $1)` };
      client.query({ ...notify, values: [payload] }).catch(() => {});
    }
  }

  #receive({ payload = "" }: Notification): void {
    const [origin, ...hints] = payload.split(" ");
    if (origin === this.#origin) return;
    for (const hint of hints) {
      for (const { onChanges, onTask } of this.#listeners) {
        if (hint === CHANGES) onChanges();
        else onTask(hint);
      }
    }
  }
}

/** Packs hints into as few messages as the server takes: the sender's mark, then the hints. */
export function packHints(origin: string, hints: readonly string[]): readonly string[] {
  const messages: string[] = [];
  let message = origin;
  for (const hint of hints) {
    if (message.length + 1 + hint.length > MAX_MESSAGE_BYTES) {
      messages.push(message);
      message = origin;
    }
    message += ` ${hint}`;
  }
  return message === origin ? messages : [...messages, message];
}
