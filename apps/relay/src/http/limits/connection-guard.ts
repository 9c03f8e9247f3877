import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { limits } from "@agent/wire";
import type { Runtime } from "../../runtime.ts";

/** A connection that has made a request. */
interface Connection {
  /** The answers in progress, in the order of their requests; the first one is being written. */
  readonly answers: ServerResponse[];
  /** Requests that have arrived and wait for an answer to be written. */
  readonly waiting: (() => void)[];
  /** The progress at the last check, and for how long there has been none. */
  taken: Taken;
  stalledMs: number;
}

/** The part of the answers that the client's side has taken. */
interface Taken {
  readonly bytes: number;
  /** The bytes that are still to be taken of the piece that is being written. */
  readonly left: number;
}

export interface ConnectionGuard {
  readonly listener: RequestListener;
  /** Stops checking the connections. */
  stop(): void;
}

const CHECK_INTERVAL_MS = 5_000;

/**
 * Limits the cost of clients that do not read. A few answers per connection are processed at a time, the
 * next request is served once one of them was written, and a connection whose client does not read its
 * answer is closed.
 */
export function createConnectionGuard(
  listener: RequestListener,
  { schedule }: Pick<Runtime, "schedule">,
): ConnectionGuard {
  const connections = new Map<Socket, Connection>();
  let cancelCheck: (() => void) | undefined;

  function open(socket: Socket): Connection {
    const nothing = { bytes: 0, left: 0 };
    const opened: Connection = { answers: [], waiting: [], taken: nothing, stalledMs: 0 };
    connections.set(socket, opened);
    socket.once("close", () => connections.delete(socket));
    // Node resumes a connection by itself once an answer was written.
    socket.on("resume", () => {
      if (opened.waiting.length > 0) socket.pause();
    });
    return opened;
  }

  function serveRequest(
    connection: Connection,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
  ): void {
    const { answers, waiting } = connection;
    answers.push(outgoing);
    cancelCheck ??= schedule(CHECK_INTERVAL_MS, check);
    outgoing.once("close", () => {
      answers.splice(answers.indexOf(outgoing), 1);
      // Requests of a closed connection have no reader.
      const next = incoming.socket.destroyed ? undefined : waiting.shift();
      if (next === undefined) return;
      next();
      if (waiting.length === 0) resumeReading(incoming.socket);
    });
    listener(incoming, outgoing);
  }

  /**
   * Checks all connections, and again later while any answer is in progress. The last answer leaves the
   * timer running, because setting a timer for each request costs more than a check of idle connections.
   */
  function check(): void {
    let isAnswering = false;
    for (const [socket, connection] of connections) {
      if (isStalled(socket, connection)) socket.destroy();
      else isAnswering ||= connection.answers.length > 0;
    }
    cancelCheck = isAnswering ? schedule(CHECK_INTERVAL_MS, check) : undefined;
  }

  return {
    listener(incoming, outgoing) {
      const { socket } = incoming;
      const connection = connections.get(socket) ?? open(socket);
      const serve = () => serveRequest(connection, incoming, outgoing);
      if (connection.answers.length < limits.connectionAnswers) return serve();
      connection.waiting.push(serve);
      socket.pause();
    },
    stop: () => cancelCheck?.(),
  };
}

/** Lets the connection read on, unless Node itself has paused it until its client reads. */
function resumeReading(socket: Socket & { readonly _paused?: boolean }): void {
  if (socket._paused !== true) socket.resume();
}

/** Records the progress since the last check; returns true if there was none for too long. */
function isStalled(socket: Socket, connection: Connection): boolean {
  const [answer] = connection.answers;
  const before = connection.taken;
  const taken = getTaken(socket);
  connection.taken = taken;
  const isWaiting = answer !== undefined && socket.writableLength > 0;
  const hasProgress = taken.bytes !== before.bytes || taken.left < before.left;
  connection.stalledMs = isWaiting && !hasProgress ? connection.stalledMs + CHECK_INTERVAL_MS : 0;
  // An unfinished answer is a stream, whose next events would wait as well.
  const isStream = answer?.writableEnded === false;
  return connection.stalledMs >= (isStream ? limits.streamStallMs : limits.answerStallMs);
}

/** Node's own handle knows how much of a large piece was taken; without it whole pieces count. */
function getTaken(
  socket: Socket & { readonly _handle?: { readonly writeQueueSize?: number } | null },
): Taken {
  return {
    bytes: socket.bytesWritten - socket.writableLength,
    left: socket._handle?.writeQueueSize ?? 0,
  };
}
