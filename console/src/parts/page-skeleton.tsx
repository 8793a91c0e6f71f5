import { rem, Skeleton, Stack } from "@mantine/core";
import type { CSSProperties } from "react";
import classes from "./page-skeleton.module.css";

const BAR = `${Skeleton.classes.root} ${classes.bar}`;

/**
 * Looks like Mantine's Skeleton. It is a plain element, because every page shows up to ten while it
 * loads.
 */
function Bar({ height, width }: { height: number; width?: string }) {
	const size = {
		"--skeleton-height": rem(height),
		"--skeleton-width": width,
	} as CSSProperties;
	return <div className={BAR} style={size} data-visible data-animate />;
}

/** Shown in place of a page while it loads. */
export function PageSkeleton() {
	return (
		<Stack aria-busy="true" aria-label="Loading" role="status">
			<Bar height={28} width="min(280px, 60%)" />
			<RowsSkeleton />
		</Stack>
	);
}

/** Shown in place of a list's rows while they load. */
export function RowsSkeleton({ rows = 6 }: { rows?: number }) {
	return (
		<Stack gap="xs">
			{Array.from({ length: rows }, (_, index) => (
				// biome-ignore lint/suspicious/noArrayIndexKey: the placeholders never move.
				<Bar key={index} height={36} />
			))}
		</Stack>
	);
}
