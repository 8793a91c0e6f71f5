import { Skeleton, Stack } from "@mantine/core";

/** Shown in place of a page while it loads. */
export function PageSkeleton() {
	return (
		<Stack aria-busy="true" aria-label="Loading" role="status">
			<Skeleton height={28} width="min(280px, 60%)" />
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
				<Skeleton key={index} height={36} />
			))}
		</Stack>
	);
}
