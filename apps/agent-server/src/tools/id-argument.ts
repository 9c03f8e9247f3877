import { limits } from "@agent/wire";
import * as v from "valibot";

/** An id among the arguments of a tool, of the length that a relay accepts. */
export const idArgument = v.pipe(
  v.string(),
  v.nonEmpty("must not be empty"),
  v.maxLength(limits.idLength),
);
