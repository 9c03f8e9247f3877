export { checkNodeVersion } from "./check-node-version.ts";
export { findUsageFault, type GivenLine } from "./find-usage-fault.ts";
export {
  type CommandFault,
  formatFault,
  formatUsageRefusal,
  type RefusalOutput,
} from "./format-fault.ts";
export { type OptionTable, type ParsedOptions, parseOptions } from "./parse-options.ts";
export { parseUsage, type UsageForm, type UsageOption } from "./parse-usage.ts";
export { formatSafeJson, makeSafe } from "./safe-text.ts";
export { watchOutput } from "./watch-output.ts";
