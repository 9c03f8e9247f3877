import { expect, test } from "vitest";
import { getUnfreezeRemedy } from "./unfreeze-remedy.ts";

test.each([
  [false, "unfreeze`"],
  [true, "unfreeze --restored`"],
])(
  "the command that ends a freeze after a restore (%s) is one that the relay accepts",
  (...given) => {
    const [restored, command] = given;
    expect(getUnfreezeRemedy({ restored })).toContain(`\`agent-relay ${command}`);
  },
);
