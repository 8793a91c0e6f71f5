/**
 * How much of a property the list of tools shows. A model reads the list again and again, so the
 * list leaves out what a model knows anyway. The OpenAPI document always shows everything.
 *
 * - `undescribed`: no description, because the name and the type say enough.
 * - `type`: only the type, because another tool beside this one describes the same property.
 * - `filled`: without null, because null means the same as leaving the property out.
 * - `bare`: with neither description nor null.
 * - `nothing`: not at all, because another property means the same or only the console needs it.
 */
export type Shown = "undescribed" | "type" | "filled" | "bare" | "nothing";

/** Returns the metadata of a property that the list of tools does not show in full. */
export const described = (description: string, shown: Shown) => ({
	description,
	shown,
});

/** Returns the metadata of a property whose name and type say enough. */
export const obvious = (description: string) =>
	described(description, "undescribed");
