import { rem, Text, type TextProps } from "@mantine/core";
import type {
	ComponentPropsWithRef,
	CSSProperties,
	HTMLAttributes,
} from "react";

const TEXT = `mantine-focus-auto ${Text.classes.root}`;
/** The properties that a plain element can have. */
const PLAIN =
	/^(?:on[A-Z]|aria-|data-|(?:children|className|disabled|download|href|id|ref|rel|role|tabIndex|target|title)$)/;
const COLOR = /^(?:inherit|var\(.+\))$/;
const SIZE = /^(?:xs|sm|md|lg|xl)$/;

/**
 * Returns the properties of a plain element that looks like Mantine's Text with these properties, or
 * undefined for a text with rarer ones.
 */
export function plainText(
	props: TextProps & { className?: string | undefined },
): HTMLAttributes<HTMLElement> | undefined {
	const { size, inherit, fw, c, lh, lineClamp, maw, miw, style, ...others } =
		props;
	const color = c === "dimmed" ? "var(--mantine-color-dimmed)" : c;
	const isPlain =
		(size === undefined || SIZE.test(size)) &&
		(color === undefined || (typeof color === "string" && COLOR.test(color))) &&
		typeof (fw ?? 0) === "number" &&
		typeof (maw ?? 0) === "number" &&
		typeof (miw ?? 0) === "number" &&
		(lh === undefined || (typeof lh !== "object" && !SIZE.test(`${lh}`))) &&
		!(Array.isArray(style) || typeof style === "function") &&
		Object.keys(others).every((name) => PLAIN.test(name));
	if (!isPlain) return undefined;
	const { className } = others;
	return {
		...others,
		className: className ? `${TEXT} ${className}` : TEXT,
		style: {
			...style,
			...(size && {
				"--text-fz": `var(--mantine-font-size-${size})`,
				"--text-lh": `var(--mantine-line-height-${size})`,
			}),
			...(lineClamp && { "--text-line-clamp": lineClamp }),
			...(color && { color }),
			...(fw && { fontWeight: fw }),
			...(lh && { lineHeight: lh }),
			...(typeof miw === "number" && { minWidth: rem(miw) }),
			...(typeof maw === "number" && { maxWidth: rem(maw) }),
		} as CSSProperties,
		...({
			"data-inherit": inherit || undefined,
			"data-line-clamp": lineClamp ? true : undefined,
		} as object),
	};
}

/**
 * Looks like Mantine's Text. It is a plain element unless it has rarer properties, because a list has
 * a hundred texts, and each Text renders two components.
 */
export function PlainText({
	span = false,
	...props
}: TextProps & { span?: boolean } & Omit<
		ComponentPropsWithRef<"p">,
		keyof TextProps
	>) {
	const plain = plainText(props);
	if (!plain) return <Text span={span} {...props} />;
	return span ? <span {...plain} /> : <p {...plain} />;
}
