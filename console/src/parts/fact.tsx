import { Text } from "@mantine/core";
import type { ReactNode } from "react";

/** Shows a name and its value in a `<dl>`. Keeps line breaks, and breaks long words. */
export function Fact({
	name,
	children,
}: {
	name: string;
	children: ReactNode;
}) {
	return (
		<div>
			<Text component="dt" size="sm" c="dimmed">
				{name}
			</Text>
			<Text
				component="dd"
				m={0}
				size="sm"
				style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}
			>
				{children}
			</Text>
		</div>
	);
}
