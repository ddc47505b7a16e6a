"""The kinds of numpy arrays, named once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Int32s = NDArray[np.int32]
Ints = NDArray[np.int64]
UInt64s = NDArray[np.uint64]
Float32s = NDArray[np.float32]
Floats = NDArray[np.float64]
