import { asMicro } from "@agent/budget";
import { describe, expect, it } from "vitest";
import {
  alpha,
  beta,
  buildForward,
  gamma,
  NOW,
  buildForwardInput,
  type Party,
  worker,
} from "../../test/messages.ts";
import type { TaskForward } from "../messages/task.ts";
import { countPassedHops, countPassedHopsAsync, type HopContext } from "./passed-hops.ts";
import { createTaskForward } from "./task-forward.ts";

const delta: Party = { ...worker, id: "0199c800-0000-7000-8000-000000000030" };
const path = (...relays: readonly Party[]) => [
  "self",
  ...relays.map(({ id }) => `relay:${id}`),
  worker.id,
];

/** A relay's forward to the next one, with the forward that it received. */
function pass(
  from: Party,
  to: Party,
  {
    got,
    ...change
  }: Partial<ReturnType<typeof buildForwardInput>> & { readonly got?: TaskForward } = {},
): TaskForward {
  const order = {
    ...buildForwardInput(),
    self: from.id,
    to: to.id,
    amount: asMicro(902_500),
    ...change,
  };
  const { task_payload: _, ...relayed } = got ?? ({} as TaskForward);
  return createTaskForward(
    { ...order, ...(got !== undefined && { relayed }) },
    { secretKey: from.secretKey, now: NOW },
  );
}

/** Beta has pinned the keys of gamma and delta and knows no other relay. */
const pinned = new Map([gamma, delta].map(({ id, publicKey }) => [id, publicKey]));
const context: HopContext = {
  from: alpha.id,
  findKey: (relayId) => pinned.get(relayId),
  federationHops: 3,
};
const hops = async (message: TaskForward, change: Partial<HopContext> = {}) => {
  const counted = countPassedHops(message, message, { ...context, ...change });
  expect(await countPassedHopsAsync(message, message, { ...context, ...change })).toBe(counted);
  return counted;
};

const two = path(gamma, alpha, beta);
const fromGamma = pass(gamma, alpha, { path: two });

describe("A11: the hops of a forward", () => {
  it("the hops of a forward are 1 without a path and with the sender alone", async () => {
    expect(await hops({ ...buildForward(), routing_choice: null })).toBe(1);
    expect(await hops(buildForward())).toBe(1);
    expect(await hops(buildForward({ path: path(alpha, alpha, alpha, beta) }))).toBe(1);
  });

  it("a relay with a pinned key and a carried forward counts as 1 hop more", async () => {
    const message = pass(alpha, beta, { path: two, got: fromGamma });
    expect(await hops(message)).toBe(2);
    expect(await hops(message, { federationHops: 1 })).toBe(2);
  });

  it("two relays with pinned keys and carried forwards count as 2 hops more", async () => {
    const three = path(delta, gamma, alpha, beta);
    const fromDelta = pass(delta, gamma, { path: three });
    const middle = pass(gamma, alpha, { path: three, got: fromDelta });
    const message = pass(alpha, beta, { path: three, got: middle });
    expect(await hops(message, { federationHops: 1 })).toBe(3);
    expect(await hops(pass(alpha, beta, { path: three, got: fromGamma }))).toBe(2);
  });

  it.each<[string, TaskForward]>([
    ["without its forward", pass(alpha, beta, { path: two })],
    [
      "with a forward by another key",
      pass(alpha, beta, { path: two, got: pass({ ...gamma, secretKey: beta.secretKey }, alpha) }),
    ],
    ["with another relay's forward", pass(alpha, beta, { path: two, got: pass(delta, alpha) })],
    [
      "with its forward to another relay",
      pass(alpha, beta, { path: two, got: pass(gamma, delta) }),
    ],
    [
      "with its forward of another task",
      pass(alpha, beta, {
        path: two,
        got: pass(gamma, alpha, { taskId: "0199c800-0000-7000-8000-000000000009" }),
      }),
    ],
    [
      "with its forward to another agent",
      pass(alpha, beta, { path: two, got: pass(gamma, alpha, { agentId: delta.id }) }),
    ],
    [
      "with its forward of another prompt",
      pass(alpha, beta, { path: two, got: pass(gamma, alpha, { payload: { prompt: "else" } }) }),
    ],
    [
      "with its forward changed",
      pass(alpha, beta, {
        path: two,
        got: { ...fromGamma, budget: { amount: 9, currency: "USD" } },
      }),
    ],
    ["named twice", pass(alpha, beta, { path: path(gamma, gamma, alpha, beta) })],
  ])("a known relay counts as no further hop %s", async (_, message) => {
    expect(await hops(message)).toBe(1);
  });

  it("a relay counts as one hop even if the path names it twice", async () => {
    const message = pass(alpha, beta, { path: path(gamma, gamma, alpha, beta), got: fromGamma });
    expect(await hops(message)).toBe(2);
  });

  it("a removed relay counts as no hop even if it signed", async () => {
    const removed = { findKey: () => null };
    expect(await hops(pass(alpha, beta, { path: two, got: fromGamma }), removed)).toBe(1);
  });

  it.each([
    [1, 1, 1],
    [2, 1, 2],
    [3, 1, 2],
    [1, 2, 1],
    [2, 2, 2],
    [3, 2, 3],
    [3, 9, 3],
    [9, 9, 3],
  ])(
    "the hops of a forward with federation_hops %d and %d unknown relays count %d",
    async (federationHops, count, expected) => {
      const strangers = Array.from({ length: count }, (_, i) => ({
        ...worker,
        id: `0199c800-0000-7000-8000-0000000001${10 + i}`,
      }));
      const message = pass(alpha, beta, { path: path(...strangers, alpha, beta) });
      expect(await hops(message, { federationHops })).toBe(expected);
    },
  );

  it("unknown relays add to the proven hops of a forward only up to federation_hops", async () => {
    const three = path(worker, gamma, alpha, beta);
    const message = pass(alpha, beta, { path: three, got: fromGamma });
    for (const [federationHops, expected] of [
      [1, 2],
      [2, 2],
      [3, 3],
    ] as const) {
      expect(await hops(message, { federationHops })).toBe(expected);
    }
  });
});
