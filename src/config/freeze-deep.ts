/** Freezes arrays, objects and the values of maps. A map itself cannot be frozen. */
export function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (value instanceof Map) {
    for (const inner of value.values()) freezeDeep(inner);
    return value;
  }
  Object.freeze(value);
  for (const inner of Object.values(value)) freezeDeep(inner);
  return value;
}
