import fc from "fast-check";
import { expect, test } from "vitest";
import { Heap } from "./heap.ts";
import { NumberHeap } from "./number-heap.ts";

const keys = fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 300, size: "max" });

test("a heap returns its items in order", () => {
  fc.assert(
    fc.property(keys, (items) => {
      const heap = new Heap<number>((a, b) => a < b);
      for (const item of items) heap.push(item);
      expect(items.map(() => heap.pop())).toEqual(items.toSorted((a, b) => a - b));
      expect(heap.pop()).toBeUndefined();
    }),
  );
});

test("a heap of numbers returns its nodes in the order of their keys", () => {
  fc.assert(
    fc.property(keys, (items) => {
      const heap = new NumberHeap();
      for (const [node, key] of items.entries()) heap.push(key, node);
      expect(items.map(() => items[heap.pop()])).toEqual(items.toSorted((a, b) => a - b));
      expect(heap.size).toBe(0);
    }),
  );
});
