import { Alert, List } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { KindDescription } from "../../kind-description.ts";
import { fieldOf } from "../../kinds.ts";
import type { Hint } from "./hints.ts";

/** Shows the hints that something in a record should be checked. */
export function HintList({
	kind,
	hints,
	children,
}: {
	kind: KindDescription;
	hints: readonly Hint[];
	/** What the reader can do about them. */
	children?: ReactNode;
}) {
	if (hints.length === 0) return null;
	return (
		<Alert
			color="orange"
			variant="outline"
			title="Please check"
			icon={<IconAlertTriangle aria-hidden />}
		>
			<List size="sm" listStyleType="none">
				{hints.map(({ field, text }) => (
					<List.Item key={field + text}>
						<b>{fieldOf(kind, field)?.label}:</b> {text}
					</List.Item>
				))}
			</List>
			{children}
		</Alert>
	);
}
