import { expect, test } from "vitest";
import { checkAccountId } from "./check-account-id.ts";

const relayId = "019b7d21-53eb-7ccd-926c-3badff397897";
const wallet = `x402:0x${"ab".repeat(20)}`;

test.each([
  ["of an agent", "f47ac10b-58cc-4372-a567-0e02b2c3d479"],
  ["of a wallet", wallet],
])("money from outside may be for the account %s", (_, id) => {
  expect(checkAccountId(id, relayId)).toBeUndefined();
});

test.each([
  ["of the relay, which shows its fees", relayId, "agent.id_reserved"],
  ["of an agent in upper case", "F47AC10B-58CC-4372-A567-0E02B2C3D479", "request.invalid"],
  ["of a wallet in mixed case", wallet.replace("ab", "aB"), "request.invalid"],
  ["of a wallet with a digit more", `${wallet}0`, "request.invalid"],
  ["of a wallet without its scheme", wallet.slice(5), "request.invalid"],
  ["of no form", "fees", "request.invalid"],
])("no money from outside may be for the account %s", (_, id, code) => {
  expect(checkAccountId(id, relayId)).toMatchObject({ ok: false, code });
});
