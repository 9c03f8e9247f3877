import type { AgentSocket } from "@agent/client";
import { connectDevice, type TestAgent } from "@agent/testkit";
import type { ServerMessage } from "@agent/wire";
import { expect } from "vitest";

/** A device of an agent on the real clock, which reconnects by itself. */
export interface Device {
  readonly socket: AgentSocket;
  readonly received: readonly ServerMessage[];
  /** The codes with which its sockets were closed. */
  readonly codes: readonly number[];
  /** Resolves once a kind of message has arrived that often. */
  heard(type: ServerMessage["type"], times?: number): Promise<void>;
}

export function listenAsDevice(agent: TestAgent, baseUrl: string): Device {
  const received: ServerMessage[] = [];
  const codes: number[] = [];
  const socket = connectDevice({
    agent,
    baseUrl,
    onMessage: (message) => received.push(message),
    onDisconnect: ({ code }) => codes.push(code),
  });
  return {
    socket,
    received,
    codes,
    heard: (type, times = 1) =>
      expect
        .poll(() => received.filter((message) => message.type === type).length, {
          timeout: 20_000,
        })
        .toBeGreaterThanOrEqual(times),
  };
}
