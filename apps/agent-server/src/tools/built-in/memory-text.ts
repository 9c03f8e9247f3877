import * as v from "valibot";
import { memoryLimits } from "../../memory/memory.ts";

/**
 * The schema of a text that is stored or searched. A lone surrogate is refused because it has no
 * UTF-8 form.
 */
export const memoryText = v.pipe(
  v.string(),
  v.nonEmpty("must not be empty"),
  v.maxBytes(
    memoryLimits.contentBytes,
    `must be at most ${memoryLimits.contentBytes} bytes of UTF-8`,
  ),
  v.check((text) => text.isWellFormed(), "must be well-formed Unicode"),
);
