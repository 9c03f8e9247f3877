import type { ToolDefinition } from "../../tools/definition.ts";
import type { Toolbox } from "../executor.ts";
import type { WorkTask } from "../task.ts";

/**
 * Chooses the tools for a task in the order in which they run: those for the required capabilities,
 * otherwise those that the prompt names, otherwise the one whose words match best, otherwise the first. The
 * same rules choose among several tools of one capability.
 */
export function chooseTools(
  { prompt, requiredCapabilities }: Pick<WorkTask, "prompt" | "requiredCapabilities">,
  { tools, toolsFor }: Pick<Toolbox, "tools" | "toolsFor">,
): readonly ToolDefinition[] {
  const required = [...new Set(requiredCapabilities)].flatMap((capability) => {
    const candidates = toolsFor(capability);
    return candidates.length > 1 ? chooseAmong(candidates, prompt) : candidates;
  });
  return required.length > 0 ? [...new Set(required)] : chooseAmong(tools, prompt);
}

function chooseAmong(tools: readonly ToolDefinition[], prompt: string): readonly ToolDefinition[] {
  const named = findNamedTools(prompt, tools);
  return named.length > 0 ? named : tools.slice(...findBestFit(prompt, tools));
}

function findNamedTools(prompt: string, tools: readonly ToolDefinition[]): ToolDefinition[] {
  const text = splitWords(prompt).join(" ");
  return tools
    .map((tool) => ({ tool, at: findPosition(splitWords(tool.name).join(" "), text) }))
    .filter(({ at }) => at >= 0)
    .toSorted((a, b) => a.at - b.at)
    .map(({ tool }) => tool);
}

function findPosition(name: string, text: string): number {
  return name === "" ? -1 : ` ${text} `.indexOf(` ${name} `);
}

function findBestFit(prompt: string, tools: readonly ToolDefinition[]): [number, number] {
  const promptWords = new Set(significantWords(prompt));
  const fits = tools.map(({ name, description }) => {
    const toolWords = new Set(significantWords(`${name} ${description}`));
    return [...promptWords].filter((word) => toolWords.has(word)).length;
  });
  const best = Math.max(0, fits.indexOf(Math.max(...fits)));
  return [best, best + 1];
}

/** Leaves out short words, which occur in every description. */
function significantWords(text: string): string[] {
  return splitWords(text).filter((word) => word.length > 3);
}

function splitWords(text: string): string[] {
  const spaced = text.replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2");
  return spaced.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}
