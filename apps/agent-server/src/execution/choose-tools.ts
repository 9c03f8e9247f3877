import type { ToolDefinition } from "../tools/definition.ts";
import type { WorkTask } from "./task.ts";

/**
 * The tools for a task, in the order in which they run: those that are required capabilities, else those
 * that the prompt names, else the one that its words fit best, else the first.
 */
export function chooseTools(
  { prompt, requiredCapabilities }: Pick<WorkTask, "prompt" | "requiredCapabilities">,
  tools: readonly ToolDefinition[],
): readonly ToolDefinition[] {
  const required = [...new Set(requiredCapabilities)].flatMap(
    (name) => tools.find((tool) => tool.name === name) ?? [],
  );
  if (required.length > 0) return required;
  const named = namedIn(prompt, tools);
  return named.length > 0 ? named : tools.slice(...bestFit(prompt, tools));
}

function namedIn(prompt: string, tools: readonly ToolDefinition[]): ToolDefinition[] {
  const text = plainWords(prompt).join(" ");
  return tools
    .map((tool) => ({ tool, at: positionOf(plainWords(tool.name).join(" "), text) }))
    .filter(({ at }) => at >= 0)
    .toSorted((a, b) => a.at - b.at)
    .map(({ tool }) => tool);
}

function positionOf(name: string, text: string): number {
  return name === "" ? -1 : ` ${text} `.indexOf(` ${name} `);
}

function bestFit(prompt: string, tools: readonly ToolDefinition[]): [number, number] {
  const asked = new Set(tellingWords(prompt));
  const fits = tools.map(({ name, description }) => {
    const about = new Set(tellingWords(`${name} ${description}`));
    return [...asked].filter((word) => about.has(word)).length;
  });
  const best = Math.max(0, fits.indexOf(Math.max(...fits)));
  return [best, best + 1];
}

/** Short words are in every description. */
function tellingWords(text: string): string[] {
  return plainWords(text).filter((word) => word.length > 3);
}

function plainWords(text: string): string[] {
  const parted = text.replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2");
  return parted.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}
