import { useEffect, useRef, useState } from "preact/hooks";
import type { GivenFile } from "./verifying/verify-file.ts";

type NewFile = Omit<GivenFile, "id">;

/** A larger file is no artifact of an agent, and would block the browser. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;

/** The only field for files, which can be dropped anywhere on the page, chosen, or pasted as text. */
export function FileInput({
  onFiles,
  isSmall,
}: {
  onFiles: (files: readonly NewFile[]) => void;
  isSmall: boolean;
}) {
  const [isOver, setOver] = useState(false);
  const [refused, setRefused] = useState("");
  const text = useRef<HTMLTextAreaElement>(null);

  const take = async (list: Iterable<File>) => {
    const all = [...list];
    const large = all.filter(({ size }) => size > MAX_FILE_BYTES);
    setRefused(large.length === 0 ? "" : "A file must be at most 32 MiB.");
    const readable = all.filter(({ size }) => size <= MAX_FILE_BYTES);
    const files = await Promise.all(
      readable.map(async (file) => ({
        name: file.name,
        bytes: new Uint8Array(await file.arrayBuffer()),
      })),
    );
    if (files.length > 0) onFiles(files);
  };
  const takeText = () => {
    const pasted = text.current?.value ?? "";
    if (pasted === "") return;
    onFiles([{ name: "pasted text", bytes: new TextEncoder().encode(pasted) }]);
    if (text.current !== null) text.current.value = "";
  };
  useDrops(take, setOver);

  return (
    <section class={`input noprint${isOver ? " over" : ""}${isSmall ? " small" : ""}`}>
      <label class="button">
        Choose files
        <input
          type="file"
          multiple
          class="hidden"
          onChange={({ currentTarget }) => {
            void take(currentTarget.files ?? []);
            currentTarget.value = "";
          }}
        />
      </label>
      <span>or drop them anywhere on this page</span>
      <details>
        <summary>or paste a text</summary>
        <textarea ref={text} rows={6} spellcheck={false} aria-label="Text to verify" />
        <button type="button" onClick={takeText}>
          Verify this text
        </button>
      </details>
      {refused !== "" && <p role="alert">{refused}</p>}
    </section>
  );
}

/** Accepts files that are dropped anywhere, because otherwise the browser would leave the page. */
function useDrops(
  take: (files: Iterable<File>) => Promise<void>,
  setOver: (isOver: boolean) => void,
): void {
  useEffect(() => {
    const over = (event: DragEvent) => {
      event.preventDefault();
      setOver(true);
    };
    const leave = ({ relatedTarget }: DragEvent) => relatedTarget === null && setOver(false);
    const drop = (event: DragEvent) => {
      event.preventDefault();
      setOver(false);
      void take(event.dataTransfer?.files ?? []);
    };
    document.addEventListener("dragover", over);
    document.addEventListener("dragleave", leave);
    document.addEventListener("drop", drop);
    return () => {
      document.removeEventListener("dragover", over);
      document.removeEventListener("dragleave", leave);
      document.removeEventListener("drop", drop);
    };
  }, []);
}
