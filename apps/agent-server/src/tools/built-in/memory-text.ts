import * as v from "valibot";
import { memoryLimits } from "../../memory/memory.ts";

/** Text that is kept or looked for; a lone surrogate has no UTF-8 form, so neither hash nor storage. */
export const memoryText = v.pipe(
  v.string(),
  v.nonEmpty("must not be empty"),
  v.maxBytes(
    memoryLimits.contentBytes,
    `must be at most ${memoryLimits.contentBytes} bytes of UTF-8`,
  ),
  v.check((text) => text.isWellFormed(), "must be well-formed Unicode"),
);
