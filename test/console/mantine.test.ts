import { expect, test } from "vitest";
import * as style from "../../console/mantine/extract-style-props.ts";
import * as filter from "../../console/mantine/filter-props.ts";
import * as mod from "../../console/mantine/get-box-mod.ts";
import * as names from "../../console/mantine/resolve-class-names.ts";

/** Mantine's own module, which its package does not export. */
const mantine = (path: string) =>
	import(
		`${import.meta.dirname}/../../node_modules/@mantine/core/esm/core/${path}.mjs`
	);

test("styles are divided from other properties as Mantine does, in the same order", async () => {
	const { extractStyleProps } = await mantine(
		"Box/style-props/extract-style-props/extract-style-props",
	);
	const { STYLE_PROPS_DATA } = await mantine(
		"Box/style-props/style-props-data",
	);
	const known = Object.keys(STYLE_PROPS_DATA);
	const all = Object.fromEntries(
		[...known, "hiddenFrom", "visibleFrom", "lightHidden", "darkHidden", "sx"]
			.sort()
			.map((name, place) => [name, place]),
	);
	for (const props of [
		{},
		all,
		{ ...all, href: "/", onClick: undefined, pl: undefined },
		{ pl: 4, p: 2, children: "a", mt: { base: 1, sm: 2 }, "aria-label": "b" },
	]) {
		const ours = style.extractStyleProps(props);
		const theirs = extractStyleProps(props);
		expect(Object.entries(ours.styleProps)).toEqual(
			Object.entries(theirs.styleProps),
		);
		expect(Object.entries(ours.rest)).toEqual(Object.entries(theirs.rest));
	}
});

test("modifiers become the same attributes as with Mantine", async () => {
	const { getBoxMod, getMod } = await mantine("Box/get-box-mod/get-box-mod");
	const object = {
		a: 1,
		withBorder: true,
		b: "",
		c: false,
		d: null,
		"data-e": 0,
	};
	for (const given of [
		undefined,
		"",
		"active",
		"data-withBorder",
		object,
		[object, { a: 2, "with-left-section": false }, "f", undefined],
		[[{ a: 1 }, [{ a: "x", variant: undefined }]], null],
	]) {
		expect(mod.getBoxMod(given)).toEqual(getBoxMod(given));
	}
	expect(mod.getMod(object)).toEqual(getMod(object));
});

test("class names are merged as Mantine does", async () => {
	const { resolveClassNames } = await mantine(
		"styles-api/use-styles/get-class-name/resolve-class-names/resolve-class-names",
	);
	const made = (theme: unknown, props: unknown, stylesCtx: unknown) => ({
		root: [theme, props, stylesCtx].join("-"),
	});
	for (const classNames of [
		undefined,
		{},
		{ root: "a", label: undefined },
		made,
		[{ root: "a", input: "b" }, undefined, made, { root: "c", input: "" }],
	]) {
		const given = { theme: "t", props: "p", stylesCtx: "s", classNames };
		expect(names.resolveClassNames(given)).toEqual(resolveClassNames(given));
	}
});

test("undefined properties are left out as Mantine does", async () => {
	const { filterProps } = await mantine("utils/filter-props/filter-props");
	const props = { b: undefined, a: null, c: 0, d: "", e: false };
	expect(Object.entries(filter.filterProps(props))).toEqual(
		Object.entries(filterProps(props)),
	);
});
