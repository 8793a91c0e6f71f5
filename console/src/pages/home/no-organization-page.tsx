import { EmptyState } from "../../parts/empty-state.tsx";
import { PageHeader } from "../../parts/page-header.tsx";

export function Page() {
	return (
		<>
			<PageHeader title="No organization yet" />
			<EmptyState title="You belong to no organization">
				Ask an administrator for an invitation, and open its link.
			</EmptyState>
		</>
	);
}
