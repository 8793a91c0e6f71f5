import { Anchor, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { NOW } from "../past.ts";

/** Says what a page leaves out on a past day, and leads to the page of today. */
export function LeftOutInPast({ children }: { children: ReactNode }) {
	return (
		<Text size="sm">
			This page of a past day leaves out {children}.{" "}
			<Anchor
				component={Link}
				to="."
				search={((before: object) => ({ ...before, as_of: NOW })) as never}
			>
				Show the page of today
			</Anchor>
		</Text>
	);
}
