"""The role `indices`: the elements to take along an axis."""

from collections.abc import Iterator
from functools import cached_property
from math import prod
from typing import Literal

from opcert.arrays.calls import Tensor
from opcert.errors import Inapplicable
from opcert.roles.dims import LeadingDimsRole
from opcert.roles.drawing import MAX_INDICES, MAX_OUTPUT_RANK, MAX_OUTPUTS, Drawing
from opcert.roles.indexing import IndexingRole
from opcert.roles.role import Requirement


class IndicesRole(IndexingRole):
    """Indices into an axis of data: a tensor.

    They replace the axis by their own dimensions. If the least rank is also the greatest, it is a
    requirement.
    """

    role: Literal["indices"]

    def rank_bounds(self) -> tuple[str, str]:
        """Return all ranks that outputs can have."""
        return ("0", str(MAX_OUTPUT_RANK))

    @cached_property
    def _leading(self) -> LeadingDimsRole | None:
        """The role of the number of dimensions that it shares with data, if there is one."""
        roles = self.referrers("shared_with")
        return next((role for role in roles if isinstance(role, LeadingDimsRole)), None)

    def draw_rank(self, call: Drawing) -> int:
        """Draw its rank, with which the output does not have too many dimensions."""
        least, most = map(int, self.rank)
        rank = call.fact(self.data.draw_rank)
        shared = 0 if self._leading is None else self._leading.draw_limit(call)
        ranks = range(least, most + 1)
        fitting = [n for n in ranks if rank - 1 + n - min(n, shared) <= MAX_OUTPUT_RANK]
        return call.one(self, "rank", fitting)

    def draw_shape(self, call: Drawing) -> tuple[int, ...]:
        """Draw its shape; its leading extents may be those of data."""
        rank, data = call.fact(self.draw_rank), call.fact(self.data.draw_shape)
        axis = self.draw_axis(call)
        shared = 0 if self._leading is None else call.fact(self._leading.draw_count)
        others = prod(extent for d, extent in enumerate(data) if d != axis)
        most = call.one(self, "size", {"up to 16": 16, "up to 64": 64}, {"up to 1,024": 1 << 10})
        batches = prod(data[:shared])
        if batches > MAX_INDICES:
            raise Inapplicable("there are too many indices")
        room = max(1, min(most // max(1, batches), MAX_OUTPUTS // max(1, others)))
        own = [*call.extents(self, rank - shared, room)]
        # As many as the axis has elements, so that they may be all of them.
        if own and data[axis] * prod(own[:-1]) <= room and not call.integer(self, "all", 0, 3):
            own[-1] = data[axis]
        return (*data[:shared], *own)

    def draw(self, call: Drawing) -> Tensor:
        """Return the indices: one of them is near the ends of the axis or of a type."""
        element_type, shape = call.fact(self.draw_type), call.fact(self.draw_shape)
        n = call.fact(self.data.draw_shape)[self.draw_axis(call)]
        values = self.draw_values(call, n, prod(shape))
        return call.laid_out(self, Tensor(element_type, shape, tuple(values)))

    def requirements(self) -> Iterator[Requirement]:
        """Yield its type, its rank if there is only one, and its range with `outside: reject`."""
        yield from super().requirements()
        name, (least, most) = self.name, self.rank
        if least == most:
            text = f"{name} is of rank {most}."
            yield self.requirement("rank", text, f"{name}.rank == {most}")
        yield from self.range_requirements("rank")
