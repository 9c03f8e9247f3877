import type { AgentSocket } from "@agent/client";
import { connectDevice, type TestAgent } from "@agent/testkit";
import type { ServerMessage } from "@agent/wire";
import { expect } from "vitest";

/** A device of an agent on the real clock, which reconnects automatically. */
export interface Device {
  readonly socket: AgentSocket;
  readonly received: readonly ServerMessage[];
  /** The close codes of its sockets. */
  readonly codes: readonly number[];
  /** Resolves once messages of a type have arrived this many times. */
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
