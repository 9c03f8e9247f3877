import { expect, test } from "vitest";
import { getUnfreezeRemedy } from "./unfreeze-remedy.ts";

test.each([
  [false, "unfreeze`"],
  [true, "unfreeze --restored`"],
])(
  "the relay accepts the command that is suggested to end a freeze (after a restore: %s)",
  (...given) => {
    const [restored, command] = given;
    expect(getUnfreezeRemedy({ restored })).toContain(`\`agent-relay ${command}`);
  },
);
