import { createChat } from "../../model/chat.ts";
import { createModelCaller, type ModelEndpoint } from "../../model/model-caller.ts";
import type { Runtime } from "../../runtime.ts";
import { directExecutor } from "./direct.ts";
import type { Executor } from "../executor.ts";
import { createLlmExecutor } from "./llm.ts";
import { rulesExecutor } from "./rules.ts";

/**
 * Chooses by the configuration: `direct` bypasses a model (specification, "direct mode"), and an
 * agent without a model follows rules.
 */
export function chooseExecutor(
  { direct, llm }: { readonly direct: boolean; readonly llm: ModelEndpoint | undefined },
  runtime: Runtime,
): Executor {
  if (direct) return directExecutor;
  if (llm === undefined) return rulesExecutor;
  return createLlmExecutor(createChat(createModelCaller(llm, runtime)));
}
