"""Adam whose update of a variable is one operation, one pass over its arrays."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf


class FusedAdam(keras.optimizers.Adam):
    """`keras.optimizers.Adam`, computed by TensorFlow's kernel for it.

    Keras writes the update as a dozen operations on each variable, every one of which passes over
    memory; for small models, launching them costs as much. Variables, options and results are
    those of Keras, up to rounding.
    """

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Update one variable and its two moments.

        Args:
            gradient: dense, of the shape of the variable.
            variable: the variable, or its copy on one of several devices.
            learning_rate: scalar.
        """
        if self.amsgrad:
            super().update_step(gradient, variable, learning_rate)
            return
        index = self._get_variable_index(variable)
        step = tf.cast(self.iterations.value + 1, variable.dtype)
        beta_1, beta_2 = (tf.constant(beta, variable.dtype) for beta in (self.beta_1, self.beta_2))
        tf.raw_ops.ResourceApplyAdam(
            var=variable.handle,
            m=self._momentums[index].value.handle,
            v=self._velocities[index].value.handle,
            beta1_power=beta_1**step,
            beta2_power=beta_2**step,
            lr=tf.cast(learning_rate, variable.dtype),
            beta1=beta_1,
            beta2=beta_2,
            epsilon=tf.constant(self.epsilon, variable.dtype),
            grad=tf.cast(gradient, variable.dtype),
        )
