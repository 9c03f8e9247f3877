/**
 * The notes that a guide may put before a block, as comments that readers do not see. `file` names the file to
 * which the reader saves it, `server` the program that it starts and that keeps running, `stop` the program
 * that the reader has stopped before, `exit code` that of a refused command, `needs` a program that not every
 * machine has, `client` the client that executes the block.
 */
const NOTES = ["file", "server", "stop", "exit code", "needs", "client"] as const;

export type GuideNotes = Readonly<Partial<Record<(typeof NOTES)[number], string>>>;

/** A block of a guide that a reader runs or saves. */
export interface GuideBlock {
  readonly line: number;
  readonly language: string;
  readonly text: string;
  readonly notes: GuideNotes;
  /** The output that the guide shows below the block; `…` stands for any text. */
  readonly output?: string;
}

const BLOCK = /((?:^<!--[^>]*-->\n+)*)^```(\S*)\n(.*?)^```$/gms;

/**
 * Splits a guide into its blocks. Throws if a block has an unknown note, if an output belongs to no block, or
 * if the text does not mention the name under which a block is saved.
 */
export function parseGuide(document: string): GuideBlock[] {
  const blocks: GuideBlock[] = [];
  for (const match of document.matchAll(BLOCK)) {
    const [whole, comments = "", language = "", text = ""] = match;
    const fence = match.index + whole.indexOf("```");
    const line = document.slice(0, fence).split("\n").length;
    if (language !== "text") {
      const notes = parseNotes(comments, line);
      const { file } = notes;
      if (file !== undefined && !document.slice(0, fence).includes(`\`${file}\``)) {
        throw new Error(`line ${line}: the reader is not told the name ${file}`);
      }
      blocks.push({ line, language, text, notes });
      continue;
    }
    const ran = blocks.pop();
    const hasOutput = ran?.language === "sh" || ran?.notes.client !== undefined;
    if (ran === undefined || !hasOutput || ran.output !== undefined) {
      throw new Error(`line ${line}: only what is run has an output, and each only one`);
    }
    blocks.push({ ...ran, output: text });
  }
  const count = document.match(/^```\S/gm)?.length ?? 0;
  const outputs = blocks.filter(({ output }) => output !== undefined).length;
  if (count !== blocks.length + outputs) throw new Error("a block is indented or has no end");
  return blocks;
}

function parseNotes(comments: string, line: number): GuideNotes {
  const notes = [...comments.matchAll(/<!-- ([\w ]+): (.*?) -->/g)].map(
    ([, name = "", value = ""]) => [name, value] as const,
  );
  const unknown = notes.find(([name]) => !NOTES.some((known) => known === name));
  if (unknown !== undefined) throw new Error(`line ${line}: "${unknown[0]}" is no note`);
  return Object.fromEntries(notes);
}

/** Builds a pattern for a whole output, in which `…` stands for any text. */
export function buildOutputPattern(output: string): RegExp {
  const escape = (part: string) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
  const parts = output.trimEnd().split("…").map(escape);
  return new RegExp(`^${parts.join("[^]*?")}\\s*$`);
}
